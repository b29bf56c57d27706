//! Arithmetic that gives the same bits on every machine: the few transcendental functions (from `libm`), an
//! exponential sampler, quantile tables, alias tables, fixed-point helpers.
//!
//! Nothing here calls the platform's mathematics library: it differs between systems in the last bit, and one bit
//! is enough to swap two events.

use std::hint::select_unpredictable;
use std::sync::Arc;

use super::prefetch::prefetch;
use super::rng::Stream;
use super::spec::{KeySpace, Spread};

/// 2 to the power of `x`.
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// e to the power of `x`.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// `x` to the power of `y`.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

const CELL_BITS: u32 = 12;
const CELLS: usize = 1 << CELL_BITS;

/// Draws unit exponentials as Q32 fixed point from a table of the inverse distribution function: one draw and one
/// multiplication. The last cell is open-ended; being memoryless, the tail beyond it is the same distribution again.
#[derive(Clone, Debug)]
pub struct Exponential {
    /// Lower edges of the cells, Q32; shared between copies of a world.
    edges: Arc<[u64; CELLS]>,
}

impl Exponential {
    /// Builds the table.
    pub fn new() -> Exponential {
        let edge = |i: usize| (-ln(1.0 - i as f64 / CELLS as f64) * 4_294_967_296.0) as u64;
        Exponential { edges: Arc::new(std::array::from_fn(edge)) }
    }

    /// A unit exponential in Q32.
    #[inline]
    pub fn draw(&self, rng: &mut Stream) -> u64 {
        let mut tail = 0;
        loop {
            let r = rng.draw();
            let cell = (r >> (64 - CELL_BITS)) as usize;
            if cell < CELLS - 1 {
                let (low, high) = (self.edges[cell], self.edges[cell + 1]);
                let within = (r >> (32 - CELL_BITS)) & 0xffff_ffff;
                return tail + low + (((high - low) * within) >> 32);
            }
            tail += self.edges[CELLS - 1];
        }
    }
}

impl Default for Exponential {
    fn default() -> Exponential {
        Exponential::new()
    }
}

/// Draws a [`Spread`] from tables of its inverse distribution function: one random number and one interpolation,
/// whatever the shape. The first and the last 1/4096 have tables of their own, since rare values can matter most: whether
/// one query in ten thousand is short enough to finish decides whether a cache fills. What is cut off at the top has a
/// probability of 2⁻²⁵.
#[derive(Clone, Debug)]
pub struct Sampler(Shape);

#[derive(Clone, Debug)]
enum Shape {
    /// Always the same: no table to keep near.
    Fixed(u64),
    Tables(Tables),
}

/// Values at the edges of the cells, in nanoseconds: of the first cell, of all, of the last cell; shared between copies of a
/// world.
#[derive(Clone, Debug)]
struct Tables(Arc<[[u64; CELLS + 1]; 3]>);

impl Sampler {
    /// Tabulates a spread.
    pub fn new(spread: Spread) -> Sampler {
        let (k, mean) = match spread {
            Spread::Fixed(span) => return Sampler(Shape::Fixed(span.0)),
            Spread::Uniform { low, high } => {
                let width = high.0.saturating_sub(low.0) as f64;
                let even = |from: f64, to: f64| -> Vec<u64> {
                    let at = |i: usize| from + (to - from) * i as f64 / CELLS as f64;
                    (0..=CELLS).map(|i| low.0 + (width * at(i)) as u64).collect()
                };
                let cell = 1.0 / CELLS as f64;
                let tables = [even(0.0, cell), even(0.0, 1.0), even(1.0 - cell, 1.0)];
                return Sampler(Shape::Tables(Tables::new(&tables)));
            }
            Spread::Exponential(mean) => (1, mean),
            Spread::Erlang { k, mean } => (k.max(1), mean),
        };
        // P(Erlang-k with unit stages > x) = e^-x (1 + x + x²/2! + …), k terms; its slope is e^-x times the last of them.
        let survival = |x: f64| {
            let (mut term, mut sum) = (1.0, 1.0);
            for i in 1..k {
                term *= x / f64::from(i);
                sum += term;
            }
            let e = exp(-x);
            (sum * e, term * e)
        };
        let stage_ns = mean.0 as f64 / f64::from(k);
        let mut low = 0.0;
        // Newton's method, kept inside a bracket that it halves whenever it would leave it. Edges are asked for in
        // ascending order, so each begins at the one before.
        let mut edge = |wanted: f64| {
            let (mut high, mut x) = (12.0 * f64::from(k) + 40.0, low);
            for _ in 0..100 {
                let (above, slope) = survival(x);
                if above > wanted {
                    low = x
                } else {
                    high = x
                }
                let next = x + (above - wanted) / slope;
                let next = if next > low && next < high { next } else { 0.5 * (low + high) };
                let close = (next - x).abs() <= 1e-14 * x;
                x = next;
                if close {
                    break;
                }
            }
            low = x;
            (x * stage_ns) as u64
        };
        let cell = 1.0 / CELLS as f64;
        let head: Vec<u64> = (0..=CELLS).map(|i| edge(1.0 - i as f64 * cell * cell)).collect();
        let mut body: Vec<u64> = (1..CELLS).map(|i| edge(1.0 - i as f64 * cell)).collect();
        body.insert(0, 0);
        let mut tail: Vec<u64> = (0..CELLS).map(|i| edge(cell * (1.0 - i as f64 * cell))).collect();
        tail.push(edge(cell * cell * 0.5));
        body.push(tail[CELLS]);
        Sampler(Shape::Tables(Tables::new(&[head, body, tail])))
    }

    /// One value, in nanoseconds. It takes one number from the stream, whatever the shape: changing a spread shifts
    /// nobody else's draws.
    #[inline(always)]
    pub fn draw(&self, rng: &mut Stream) -> u64 {
        let r = rng.draw();
        match &self.0 {
            Shape::Fixed(value) => *value,
            Shape::Tables(tables) => tables.at(r),
        }
    }
}

impl Tables {
    fn new(edges: &[Vec<u64>; 3]) -> Tables {
        Tables(Arc::new(std::array::from_fn(|table| std::array::from_fn(|i| edges[table][i]))))
    }

    #[inline(always)]
    fn at(&self, r: u64) -> u64 {
        let cell = (r >> (64 - CELL_BITS)) as usize;
        let rest = r << CELL_BITS;
        if cell == 0 || cell == CELLS - 1 {
            return self.between(
                2 * usize::from(cell > 0),
                (rest >> (64 - CELL_BITS)) as usize,
                rest << CELL_BITS,
            );
        }
        self.between(1, cell, rest)
    }

    /// Between the edges of a cell; `rest` says where, as a share of 2⁶⁴.
    #[inline]
    fn between(&self, table: usize, cell: usize, rest: u64) -> u64 {
        let edges = &self.0[table];
        let (low, high) = (edges[cell], edges[cell + 1]);
        low + ((u128::from(high - low) * u128::from(rest)) >> 64) as u64
    }
}

/// Draws ranks in proportion to fixed weights with one random number (Walker 1977, Vose 1991).
#[derive(Clone, Debug)]
pub struct Alias {
    /// For each column: below this threshold the column itself, else its alias.
    columns: Vec<(u32, u32)>,
}

impl Alias {
    /// Builds the table for weights that are not all zero.
    pub fn new(weights: &[f64]) -> Alias {
        let n = weights.len();
        let total: f64 = weights.iter().sum();
        let mut scaled: Vec<f64> = weights.iter().map(|w| w * n as f64 / total).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| scaled[i] < 1.0);
        let mut columns: Vec<(u32, u32)> = (0..n as u32).map(|i| (u32::MAX, i)).collect();
        while let (Some(s), Some(&l)) = (small.pop(), large.last()) {
            columns[s] = ((scaled[s] * 4_294_967_295.0) as u32, l as u32);
            scaled[l] -= 1.0 - scaled[s];
            if scaled[l] < 1.0 {
                large.pop();
                small.push(l);
            }
        }
        Alias { columns }
    }

    /// A rank, from 0.
    #[inline]
    pub fn draw(&self, r: u64) -> u32 {
        let i = scale_to(r >> 32, self.columns.len() as u32);
        let (threshold, alias) = self.columns[i as usize];
        if (r as u32) < threshold { i } else { alias }
    }
}

/// Draws keys of a [`KeySpace`]; shared between copies of a world. Kinds of reads follow each other at random, so there is no
/// branch on how popular their keys are.
#[derive(Clone, Debug)]
pub struct Keys {
    n: u32,
    /// All keys are alike: the table is one column, and not asked.
    even: bool,
    alias: Arc<Alias>,
}

impl Keys {
    /// Prepares a key space.
    pub fn new(space: KeySpace) -> Keys {
        let (even, alias) = match space {
            KeySpace::Even { .. } => (true, Alias::new(&[1.0])),
            KeySpace::Zipf { .. } => (false, Alias::new(&popularity(space))),
        };
        Keys { n: space.len(), even, alias: Arc::new(alias) }
    }

    /// The key's own column, and the one to look at.
    #[inline]
    fn column(&self, r: u64) -> (u32, usize) {
        let i = scale_to(r >> 32, self.n);
        (i, select_unpredictable(self.even, 0, i as usize))
    }

    /// Hints that a key will be drawn soon with this number.
    #[inline]
    pub(super) fn prefetch(&self, r: u64) {
        prefetch(&self.alias.columns, self.column(r).1);
    }

    /// One key.
    #[inline]
    pub fn draw(&self, r: u64) -> u32 {
        let (i, column) = self.column(r);
        let (threshold, alias) = self.alias.columns[column];
        select_unpredictable(self.even | ((r as u32) < threshold), i, alias)
    }
}

/// The share of each key of a space, the most popular first; they add up to 1.
pub fn popularity(space: KeySpace) -> Vec<f64> {
    match space {
        KeySpace::Even { n } => vec![1.0 / f64::from(n); n as usize],
        KeySpace::Zipf { n, s } => {
            let weights: Vec<f64> = (1..=n).map(|k| pow(f64::from(k), -s)).collect();
            let total: f64 = weights.iter().sum();
            weights.into_iter().map(|w| w / total).collect()
        }
    }
}

/// Maps 32 random bits to 0..n without a division (Lemire 2019, without the rejection: the bias is below n/2³²).
#[inline]
pub fn scale_to(bits32: u64, n: u32) -> u32 {
    ((bits32 * u64::from(n)) >> 32) as u32
}

/// A good 64-bit mix of a counter (splitmix64, Steele, Lea and Flood 2014).
#[inline]
pub fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SimSpan;

    #[test]
    fn exponential_has_the_moments_of_its_name() {
        let (table, mut rng) = (Exponential::new(), Stream::new(1, "test"));
        let n = 2_000_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = table.draw(&mut rng) as f64 / 4_294_967_296.0;
            sum += x;
            squares += x * x;
        }
        assert!((sum / f64::from(n) - 1.0).abs() < 0.003, "mean {}", sum / f64::from(n));
        assert!((squares / f64::from(n) - 2.0).abs() < 0.02, "second moment {}", squares / f64::from(n));
    }

    #[test]
    fn a_sampler_has_the_moments_of_its_spread() {
        let (mean, n) = (SimSpan::from_millis(9), 1_000_000u32);
        for (spread, variation) in [
            (Spread::Fixed(mean), 0.0),
            (Spread::Exponential(mean), 1.0),
            (Spread::Erlang { k: 5, mean }, 0.2),
            (Spread::Uniform { low: SimSpan(0), high: SimSpan(2 * mean.0) }, 1.0 / 3.0),
        ] {
            let (sampler, mut rng) = (Sampler::new(spread), Stream::new(3, "test"));
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..n {
                let x = sampler.draw(&mut rng) as f64 / mean.0 as f64;
                sum += x;
                squares += x * x;
            }
            let (average, second) = (sum / f64::from(n), squares / f64::from(n));
            assert!((average - 1.0).abs() < 0.004, "{spread:?}: mean {average}");
            assert!((second - average * average - variation).abs() < 0.01, "{spread:?}: variation {second}");
        }
    }

    #[test]
    fn a_sampler_keeps_rare_values_right() {
        // P(Erlang-5 < 0.0892 of its mean) = P(Poisson(0.446) ≥ 5) = 1.02e-4: inside the first cell.
        let sampler = Sampler::new(Spread::Erlang { k: 5, mean: SimSpan::from_millis(24) });
        let (mut rng, n) = (Stream::new(5, "test"), 4_000_000u32);
        let below = (0..n).filter(|_| sampler.draw(&mut rng) < 2_140_800).count() as f64;
        let expected = 1.02e-4 * f64::from(n);
        assert!((below - expected).abs() < 5.0 * expected.sqrt(), "{below} for {expected}");
    }

    #[test]
    fn alias_draws_in_proportion() {
        let space = KeySpace::Zipf { n: 50, s: 1.0 };
        let (wanted, keys, mut rng) = (popularity(space), Keys::new(space), Stream::new(1, "test"));
        let n = 1_000_000;
        let mut seen = [0u32; 50];
        for _ in 0..n {
            seen[keys.draw(rng.draw()) as usize] += 1;
        }
        for (rank, (&count, share)) in seen.iter().zip(&wanted).enumerate() {
            let expected = share * f64::from(n);
            let deviation = (f64::from(count) - expected).abs() / expected.sqrt();
            assert!(deviation < 5.0, "rank {rank}: {count} for {expected}");
        }
    }
}
