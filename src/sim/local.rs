//! A bounded copy of a cache inside one process: the entry used least recently leaves first.
//!
//! One index per key and a doubly linked list through the entries: every operation takes constant time.

use super::cache::Copied;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u32,
    newer: u32,
    older: u32,
    entry: Copied,
}

/// The copy.
#[derive(Clone, Debug)]
pub(super) struct Local {
    capacity: u32,
    /// Slot of each key; `NONE` when it has none.
    places: Vec<u32>,
    slots: Vec<Slot>,
    newest: u32,
    oldest: u32,
}

impl Local {
    /// An empty copy of at most `capacity` of so many keys.
    pub(super) fn new(keys: usize, capacity: u32) -> Local {
        Local {
            capacity: capacity.max(1),
            places: vec![NONE; keys],
            slots: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// The entry of a key, if there is one; it counts as used.
    #[inline]
    pub(super) fn get(&mut self, key: u32) -> Option<Copied> {
        let place = self.places[key as usize];
        if place == NONE {
            return None;
        }
        self.touch(place);
        Some(self.slots[place as usize].entry)
    }

    /// The entry of a key, if there is one; it counts as neither used nor unused.
    pub(super) fn peek(&self, key: u32) -> Option<Copied> {
        let place = self.places[key as usize];
        (place != NONE).then(|| self.slots[place as usize].entry)
    }

    /// Keeps an entry.
    pub(super) fn put(&mut self, key: u32, entry: Copied) {
        let mut place = self.places[key as usize];
        if place == NONE {
            place = self.free_place(key);
        }
        self.slots[place as usize].entry = entry;
        self.touch(place);
    }

    /// A place for a new key: an unused one, or that of the entry used least recently. It is not linked yet.
    fn free_place(&mut self, key: u32) -> u32 {
        let slot = Slot { key, newer: NONE, older: NONE, entry: Copied::default() };
        let place = if (self.slots.len() as u32) < self.capacity {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        } else {
            let place = self.oldest;
            self.unlink(place);
            self.places[self.slots[place as usize].key as usize] = NONE;
            self.slots[place as usize] = slot;
            place
        };
        self.places[key as usize] = place;
        self.link(place);
        place
    }

    /// Puts an entry at the newest end.
    #[inline]
    fn touch(&mut self, place: u32) {
        if self.newest != place {
            self.unlink(place);
            self.link(place);
        }
    }

    fn unlink(&mut self, place: u32) {
        let Slot { newer, older, .. } = self.slots[place as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }

    fn link(&mut self, place: u32) {
        let before = std::mem::replace(&mut self.newest, place);
        let slot = &mut self.slots[place as usize];
        (slot.newer, slot.older) = (NONE, before);
        match before {
            NONE => self.oldest = place,
            before => self.slots[before as usize].newer = place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_entry_used_least_recently_leaves() {
        let mut local = Local::new(10, 2);
        local.put(1, Copied::default());
        local.put(2, Copied::default());
        assert!(local.get(1).is_some());
        local.put(3, Copied::default());
        assert!(local.get(2).is_none() && local.get(1).is_some() && local.get(3).is_some());
    }

    proptest! {
        /// The same as a list in order of use.
        #[test]
        fn agrees_with_a_plain_list(capacity in 1u32..6, uses in proptest::collection::vec((0u32..12, any::<bool>()), 0..200)) {
            let (mut local, mut list) = (Local::new(12, capacity), Vec::<u32>::new());
            for (key, write) in uses {
                let known = list.iter().position(|&k| k == key);
                if write {
                    local.put(key, Copied::default());
                } else {
                    prop_assert_eq!(local.get(key).is_some(), known.is_some());
                }
                if let Some(i) = known {
                    list.remove(i);
                }
                if known.is_some() || write {
                    list.push(key);
                }
                if list.len() > capacity as usize {
                    list.remove(0);
                }
            }
        }
    }
}
