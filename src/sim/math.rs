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

/// Draws ranks in proportion to fixed weights with one random number (Walker 1977, Vose 1991). Eight bytes a rank.
#[derive(Clone, Debug)]
pub struct Alias {
    /// For each column a threshold (upper half) and an alias (lower half): below the threshold the column itself, else its
    /// alias.
    columns: Vec<u64>,
}

impl Alias {
    /// Builds the table for weights that are not all zero, in the weights' own place; while it does, it needs one byte a
    /// rank beside that.
    pub fn new(weights: Vec<f64>) -> Alias {
        let n = weights.len();
        let total: f64 = weights.iter().sum();
        // A place holds the bits of a scaled weight until its column is finished.
        let mut columns: Vec<u64> = weights.into_iter().map(|w| (w * n as f64 / total).to_bits()).collect();
        let began_large: &[bool] = &columns.iter().map(|&w| !below_one(w)).collect::<Vec<_>>();
        // Two stacks that take no place: the ranks lie on them in order, and a large one that has become small, put on top
        // of the small ones, is the next to be taken from there.
        let stack = |large: bool| (0..n).rev().filter(move |&i| began_large[i] == large);
        let (mut smalls, mut larges) = (stack(false), stack(true));
        let (mut small, mut large) = (smalls.next(), larges.next());
        while let (Some(s), Some(l)) = (small, large) {
            let share = f64::from_bits(columns[s]);
            columns[s] = column((share * 4_294_967_295.0) as u32, l);
            columns[l] = (f64::from_bits(columns[l]) - (1.0 - share)).to_bits();
            (small, large) =
                if below_one(columns[l]) { (Some(l), larges.next()) } else { (smalls.next(), large) };
        }
        for i in small.into_iter().chain(large).chain(smalls).chain(larges) {
            columns[i] = column(u32::MAX, i);
        }
        Alias { columns }
    }

    /// A rank, from 0.
    #[inline]
    pub fn draw(&self, r: u64) -> u32 {
        let i = scale_to(r >> 32, self.columns.len() as u32);
        let (threshold, alias) = self.at(i as usize);
        if (r as u32) < threshold { i } else { alias }
    }

    /// Threshold and alias of a column.
    #[inline]
    fn at(&self, i: usize) -> (u32, u32) {
        let column = self.columns[i];
        ((column >> 32) as u32, column as u32)
    }
}

/// A finished column of an [`Alias`].
fn column(threshold: u32, alias: usize) -> u64 {
    u64::from(threshold) << 32 | u64::from(alias as u32)
}

/// Whether a weight, scaled to a mean of 1, is too small to fill its column.
fn below_one(weight_bits: u64) -> bool {
    f64::from_bits(weight_bits) < 1.0
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
    /// Prepares the keys of a space; the shares give their place to the table.
    pub fn new(popularity: Popularity) -> Keys {
        let n = popularity.len();
        let (even, weights) = match popularity {
            Popularity::Even { .. } => (true, vec![1.0]),
            Popularity::Ranked(shares) => (false, shares),
        };
        Keys { n, even, alias: Arc::new(Alias::new(weights)) }
    }

    /// One key.
    #[inline]
    pub fn draw(&self, r: u64) -> u32 {
        self.choose(self.bring_near(r), r as u32)
    }

    /// The first half of a draw: the key that a number's upper half stands for, unless the lower half is for its alias.
    /// Hints that its column will be looked at.
    #[inline]
    pub(super) fn bring_near(&self, r: u64) -> u32 {
        let own = scale_to(r >> 32, self.n);
        prefetch(&self.alias.columns, self.column(own));
        own
    }

    /// The second half of a draw: the key itself or its alias.
    #[inline]
    pub(super) fn choose(&self, own: u32, lower: u32) -> u32 {
        let (threshold, alias) = self.alias.at(self.column(own));
        select_unpredictable(self.even | (lower < threshold), own, alias)
    }

    #[inline]
    fn column(&self, own: u32) -> usize {
        select_unpredictable(self.even, 0, own as usize)
    }
}

/// The share of each key of a [`KeySpace`], the most popular first; they add up to 1. It takes long to work out and eight
/// bytes a key: lend it to all who ask, then make it into [`Keys`].
#[derive(Clone, Debug)]
pub enum Popularity {
    /// All keys are alike, and nothing is kept for each.
    Even {
        /// How many keys.
        n: u32,
    },
    /// The shares, by rank.
    Ranked(Vec<f64>),
}

impl Popularity {
    /// Works out the shares of a space.
    pub fn new(space: KeySpace) -> Popularity {
        match space {
            KeySpace::Even { n } => Popularity::Even { n },
            KeySpace::Zipf { n, s } => {
                let mut shares: Vec<f64> = (1..=n).map(|k| pow(f64::from(k), -s)).collect();
                let total: f64 = shares.iter().sum();
                shares.iter_mut().for_each(|share| *share /= total);
                Popularity::Ranked(shares)
            }
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> u32 {
        match self {
            Popularity::Even { n } => *n,
            Popularity::Ranked(shares) => shares.len() as u32,
        }
    }

    /// Whether there is no key at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The share of a key; none beyond the last one.
    #[inline]
    pub fn get(&self, key: u32) -> Option<f64> {
        match self {
            Popularity::Even { n } => (key < *n).then(|| 1.0 / f64::from(*n)),
            Popularity::Ranked(shares) => shares.get(key as usize).copied(),
        }
    }

    /// All shares, the largest first.
    pub fn iter(&self) -> impl Iterator<Item = f64> {
        (0..self.len()).filter_map(|key| self.get(key))
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
    use proptest::prelude::*;

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
        let wanted = Popularity::new(space);
        let (keys, mut rng) = (Keys::new(wanted.clone()), Stream::new(1, "test"));
        let n = 1_000_000;
        let mut seen = [0u32; 50];
        for _ in 0..n {
            seen[keys.draw(rng.draw()) as usize] += 1;
        }
        for (rank, (&count, share)) in seen.iter().zip(wanted.iter()).enumerate() {
            let expected = share * f64::from(n);
            let deviation = (f64::from(count) - expected).abs() / expected.sqrt();
            assert!(deviation < 5.0, "rank {rank}: {count} for {expected}");
        }
    }

    /// The same table, made with two stacks and a place of its own for everything.
    fn with_two_stacks(weights: &[f64]) -> Vec<(u32, u32)> {
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
        columns
    }

    fn agrees_with_two_stacks(weights: Vec<f64>) -> Result<(), TestCaseError> {
        let plain = with_two_stacks(&weights);
        let table = Alias::new(weights);
        let columns: Vec<(u32, u32)> = (0..table.columns.len()).map(|i| table.at(i)).collect();
        prop_assert_eq!(columns, plain);
        Ok(())
    }

    fn weight() -> impl Strategy<Value = f64> {
        prop_oneof![2 => Just(0.0), 2 => Just(1.0), 4 => 0.0..1.0, 2 => 0.0..1e3, 1 => 0.0..1e-300, 1 => 1e300..1e305]
    }

    proptest! {
        #[test]
        fn an_alias_table_is_that_of_two_stacks(weights in proptest::collection::vec(weight(), 1..300)) {
            agrees_with_two_stacks(weights)?;
        }

        #[test]
        fn an_alias_table_of_equal_weights_is_that_of_two_stacks(weight in weight(), n in 1usize..300) {
            agrees_with_two_stacks(vec![weight; n])?;
        }

        #[test]
        fn the_alias_table_of_keys_is_that_of_two_stacks(n in 1u32..5_000, s in 0.0..3.0) {
            let Popularity::Ranked(shares) = Popularity::new(KeySpace::Zipf { n, s }) else { unreachable!() };
            agrees_with_two_stacks(shares)?;
        }
    }

    #[test]
    fn an_alias_table_is_built_in_the_place_of_its_weights() {
        let weights: Vec<f64> = (1..10_000).map(f64::from).collect();
        let place = weights.as_ptr().addr();
        let table = Alias::new(weights);
        assert_eq!(table.columns.as_ptr().addr(), place);
        assert_eq!(table.columns.capacity(), table.columns.len());
    }
}
