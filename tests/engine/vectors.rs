//! The engine's arithmetic, bit by bit. A machine on which these hold draws the same numbers and so gives the same runs:
//! everything that decides an event is made of these functions and of integers.

use pagerdrill::sim::digest::Digest;
use pagerdrill::sim::math::{Exponential, Keys, Popularity, Sampler, exp, exp2, ln, mix, pow, scale_to};
use pagerdrill::sim::rng::Stream;
use pagerdrill::sim::spec::{KeySpace, Spread};
use pagerdrill::units::SimSpan;

/// A checksum over many values.
fn sum(values: impl Iterator<Item = u64>) -> u64 {
    let mut digest = Digest::new();
    values.for_each(|value| digest.add(value));
    digest.value()
}

#[test]
fn transcendental_functions() {
    let points = || (1..2_000).map(|i| f64::from(i) / 61.0);
    let bits = |f: fn(f64) -> f64| sum(points().map(|x| f(x).to_bits()));
    assert_eq!(
        (bits(exp), bits(ln), bits(exp2)),
        (11_944_464_741_985_461_091, 14_039_472_508_037_028_984, 3_020_235_224_057_848_589)
    );
    assert_eq!(sum(points().map(|x| pow(x, 0.9).to_bits())), 1_282_644_154_715_189_714);
}

#[test]
fn draws_from_every_spread() {
    let mean = SimSpan::from_millis(24);
    let spreads = [
        Spread::Fixed(mean),
        Spread::Exponential(mean),
        Spread::Erlang { k: 5, mean },
        Spread::Uniform { low: SimSpan(7), high: mean },
    ];
    let drawn = spreads.map(|spread| {
        let (sampler, mut stream) = (Sampler::new(spread), Stream::new(1, "vectors"));
        sum((0..100_000).map(|_| sampler.draw(&mut stream)))
    });
    assert_eq!(
        drawn,
        [
            16_853_618_880_822_448_282,
            5_175_753_185_758_427_390,
            12_357_445_355_957_539_259,
            798_549_908_389_925_360
        ]
    );
    let (exponential, mut stream) = (Exponential::new(), Stream::new(1, "vectors"));
    assert_eq!(sum((0..100_000).map(|_| exponential.draw(&mut stream))), 12_180_713_572_735_745_466);
}

#[test]
fn draws_of_keys() {
    let space = KeySpace::Zipf { n: 20_000, s: 1.1 };
    let popularity = Popularity::new(space);
    let shares = sum(popularity.iter().map(f64::to_bits));
    let (keys, mut stream) = (Keys::new(popularity), Stream::new(1, "vectors"));
    assert_eq!(sum((0..100_000).map(|_| u64::from(keys.draw(stream.draw())))), 15_774_189_004_404_058_081);
    assert_eq!(shares, 17_178_923_472_882_136_694);
}

#[test]
fn integers() {
    assert_eq!(
        sum((0..10_000u64).map(|i| mix(i) ^ u64::from(scale_to(mix(i) >> 32, 12_345)))),
        4_955_971_205_950_348_395
    );
}
