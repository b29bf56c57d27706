//! Asking the processor to bring a record near before it is needed.
//!
//! Most of a storm's time would otherwise go into waiting for records that were last touched seconds of simulated time
//! ago. A prefetch is a hint: it changes no result, and off x86-64 it is nothing at all.

/// Hints that `slice[index]` will be needed soon; out of range is fine.
#[inline(always)]
pub(super) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = slice.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // The only unsafe code of the engine. SAFETY: the pointer comes from a live reference, and a prefetch neither
        // reads nor writes as far as the language is concerned.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch(std::ptr::from_ref(item).cast::<i8>(), _MM_HINT_T0);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
