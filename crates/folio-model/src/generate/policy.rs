//! Policies of buffers: views, drops that wait, and copies that may go.

use crate::program::{BufferSpec, Config, Memory};
use crate::rng::Rng;
use folio_core::buffer::Policy;

/// Policies are drawn from a generator of their own, which this makes another one than a
/// program's.
pub(super) const SEED: u64 = 0x706f_6c69_6379;

const VIEWS: [Policy; 4] =
    [Policy::AsyncView, Policy::SyncView, Policy::AsyncWritebackView, Policy::SyncWritebackView];

/// Gives policies to ordinary buffers.
pub(super) fn assign(rng: &mut Rng, config: &Config, buffers: &mut [BufferSpec]) {
    for buffer in buffers.iter_mut().filter(|b| b.memory == Memory::Own && !b.shared) {
        match rng.below(100) {
            0..=34 => {
                buffer.policy = rng.pick(&VIEWS);
                buffer.initialised = true;
            }
            35..=44 => buffer.policy = Policy::SyncBuffer,
            _ => {}
        }
        if config.budget.is_some() && rng.chance(60) {
            buffer.evict = Some((rng.chance(50), rng.below(3) as i32));
        }
    }
}
