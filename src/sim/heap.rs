//! Keys in a heap, the smallest first.
//!
//! A node has four children, which share a line of the processor's cache: half as many steps, each of which has to wait for
//! memory, as with two. Which child is smallest cannot be guessed, so that is found without a branch.
//!
//! Whoever takes the first key often puts another one in next. So the first key's place stays empty until a key is put in,
//! which then goes down from there, or until the first one is asked for again, and the last key does.

use std::hint::select_unpredictable;

use super::prefetch::prefetch;

/// Children of a node.
const WIDTH: usize = 4;
/// The place of the first key. Lines follow its own without a gap: the children of the key at a place are line `place - 2`.
const ROOT: usize = WIDTH - 1;

/// The first line of the level from which on they are too many for the processor's nearest cache.
const FAR: usize = 1_366;

/// The children of one node; the largest number where there is none.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Line([u128; WIDTH]);

/// Keys in order, the smallest first.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    lines: Vec<Line>,
    len: usize,
    /// The first key was taken, and nothing is in its place yet.
    is_open: bool,
}

impl Heap {
    /// An empty one.
    pub(super) fn new() -> Heap {
        Heap { lines: vec![Line([u128::MAX; WIDTH])], len: 0, is_open: false }
    }

    /// How many keys.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The key that was taken last, while nothing is in its place.
    #[inline]
    pub(super) fn taken(&self) -> Option<u128> {
        self.is_open.then(|| self.get(ROOT))
    }

    #[inline]
    fn get(&self, place: usize) -> u128 {
        self.lines[place / WIDTH].0[place % WIDTH]
    }

    #[inline]
    fn set(&mut self, place: usize, key: u128) {
        self.lines[place / WIDTH].0[place % WIDTH] = key;
    }

    /// The smallest key; one way down where the one before it was taken, and otherwise one step.
    #[inline]
    pub(super) fn first(&mut self) -> Option<u128> {
        if self.is_open {
            self.close();
        }
        (self.len > 0).then(|| self.get(ROOT))
    }

    /// Puts a key in: one way down where the first one has just been taken, and otherwise as far up as it has to go.
    #[inline(always)]
    pub(super) fn push(&mut self, key: u128) {
        self.len += 1;
        if self.is_open {
            self.is_open = false;
            self.sink(ROOT, key);
        } else {
            self.rise(ROOT + self.len - 1, key);
        }
    }

    /// Puts a key at the next place behind all others or above it.
    #[inline(always)]
    fn rise(&mut self, last: usize, key: u128) {
        let (mut line, mut slot) = (last / WIDTH, last % WIDTH);
        if slot == 0 {
            self.lines.push(Line([u128::MAX; WIDTH]));
        }
        while line > 0 {
            let parent = line + 2;
            let above = self.lines[parent / WIDTH].0[parent % WIDTH];
            if above <= key {
                break;
            }
            self.lines[line].0[slot] = above;
            (line, slot) = (parent / WIDTH, parent % WIDTH);
        }
        self.lines[line].0[slot] = key;
    }

    /// Takes the smallest key, as quickly as it is found.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u128> {
        let first = self.first()?;
        self.len -= 1;
        self.is_open = true;
        Some(first)
    }

    /// The last key goes where the first one was.
    #[inline(never)]
    fn close(&mut self) {
        self.is_open = false;
        let last = ROOT + self.len;
        let key = self.get(last);
        self.set(last, u128::MAX);
        if last.is_multiple_of(WIDTH) {
            self.lines.pop();
        }
        if self.len > 0 {
            self.sink(ROOT, key);
        }
    }

    /// Puts a key at an empty place or below it.
    #[inline(always)]
    fn sink(&mut self, place: usize, key: u128) {
        let (mut hole, mut line) = ((place / WIDTH, place % WIDTH), place - 2);
        while let Some(&Line([a, b, c, d])) = self.lines.get(line) {
            let below = WIDTH * line - 2;
            if below >= FAR
                && let Some(lines) = self.lines.get(below..below + WIDTH)
            {
                (0..WIDTH).for_each(|child| prefetch(lines, child));
            }
            let (left, right) = (select_unpredictable(b < a, b, a), select_unpredictable(d < c, d, c));
            let (left_place, right_place) = (usize::from(b < a), 2 + usize::from(d < c));
            let child = select_unpredictable(right < left, right, left);
            let least = select_unpredictable(right < left, right_place, left_place);
            if key <= child {
                break;
            }
            self.lines[hole.0].0[hole.1] = child;
            hole = (line, least);
            line = below + least;
        }
        self.lines[hole.0].0[hole.1] = key;
    }

    /// Drops the keys that do not pass a test, in time proportional to the number of keys.
    pub(super) fn retain(&mut self, test: impl Fn(u128) -> bool) {
        self.first();
        let mut kept = 0;
        for place in ROOT..ROOT + self.len {
            let key = self.get(place);
            if test(key) {
                self.set(ROOT + kept, key);
                kept += 1;
            }
        }
        for place in ROOT + kept..ROOT + self.len {
            self.set(place, u128::MAX);
        }
        self.len = kept;
        self.lines.truncate((ROOT + kept).div_ceil(WIDTH));
        for place in (ROOT..self.lines.len() + 2).rev() {
            self.sink(place, self.get(place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is put in, taken, replaced and dropped, the heap holds what a sorted list does, equal keys too.
        #[test]
        fn keys_come_in_the_order_of_a_sorted_list(
            steps in proptest::collection::vec((prop_oneof![0u128..50, any::<u128>()], 0u8..16), 0..600),
            n_first in 0usize..8_000,
        ) {
            // Enough of them that some lines are far.
            let mut list: Vec<u128> = (0..n_first as u128).map(|i| i * 7_919 % 10_007).collect();
            let mut heap = Heap::new();
            list.iter().for_each(|&key| heap.push(key));
            list.sort_unstable();
            for (key, what) in steps {
                let place = list.partition_point(|&other| other < key);
                match what {
                    0..6 => {
                        heap.push(key);
                        list.insert(place, key);
                    }
                    15 => {
                        let kept = |other: u128| other % 8 != key % 8;
                        heap.retain(kept);
                        list.retain(|&other| kept(other));
                    }
                    _ => {
                        let first = (!list.is_empty()).then(|| list.remove(0));
                        prop_assert_eq!(heap.pop(), first);
                        prop_assert_eq!(heap.taken(), first);
                        if what > 11 {
                            heap.push(key);
                            list.insert(list.partition_point(|&other| other < key), key);
                        }
                    }
                }
                if what % 2 == 0 {
                    prop_assert_eq!(heap.first(), list.first().copied());
                }
                prop_assert_eq!(heap.len(), list.len());
            }
            let rest: Vec<u128> = std::iter::from_fn(|| heap.pop()).collect();
            prop_assert_eq!(rest, list);
            prop_assert_eq!((heap.first(), heap.len()), (None, 0));
        }
    }
}
