//! Which type of memory is for what: a choice by what a device says of its memory.
//!
//! | for | wanted, the first most |
//! | --- | --- |
//! | bulk data, of the device's own | the device's, not mapped for the host, of a large heap |
//! | bulk data, where both share one memory | mapped and coherent, cached for the host, the device's |
//! | what the host reads and writes | mapped and coherent, cached for the host, not the device's |
//! | arguments of launches | mapped and coherent, the device's |
//!
//! A device reads arguments before anything else of a launch, and the host only writes them.
//! Arguments are therefore in the device's memory where the host can map some: 256 MiB as a rule,
//! or all of it.

use ash::vk;
use ash::vk::MemoryPropertyFlags as Has;

/// The purposes of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Data of kernels, in memory of the device's own.
    Bulk,
    /// The same, where host and device share one memory: the host reads and writes it, too.
    Both,
    /// The host's, which the device reaches: staging, records, USM of the host's kind.
    Host,
    /// Words that the host writes and the device reads.
    Arguments,
}

/// Properties that no memory of Folio's has: such as has no bytes until it is drawn to, or wants
/// features.
const NEVER: Has = Has::from_raw(
    Has::LAZILY_ALLOCATED.as_raw()
        | Has::PROTECTED.as_raw()
        | Has::DEVICE_COHERENT_AMD.as_raw()
        | Has::DEVICE_UNCACHED_AMD.as_raw(),
);

/// Of the types whose bits are set, those that are best for a purpose, as bits. All of them are
/// equally good. None if there is no type that would do.
pub(crate) fn best(
    properties: &vk::PhysicalDeviceMemoryProperties,
    of: u32,
    purpose: Purpose,
) -> u32 {
    let mut best = (None, 0);
    for (at, kind) in properties.memory_types_as_slice().iter().enumerate() {
        let heap = properties.memory_heaps.get(kind.heap_index as usize);
        let bytes = heap.map_or(0, |heap| heap.size);
        let allowed = of >> at & 1 == 1 && !kind.property_flags.intersects(NEVER);
        let Some(worth) = worth(kind.property_flags, bytes, purpose).filter(|_| allowed) else {
            continue;
        };
        if best.0.is_none_or(|other| worth > other) {
            best = (Some(worth), 0);
        }
        if best.0 == Some(worth) {
            best.1 |= 1 << at;
        }
    }
    best.1
}

/// How good a type is; nothing if it does not do.
fn worth(flags: Has, heap: u64, purpose: Purpose) -> Option<(bool, bool, u64)> {
    let [local, cached] = [Has::DEVICE_LOCAL, Has::HOST_CACHED].map(|flag| flags.contains(flag));
    let mapped = flags.contains(Has::HOST_VISIBLE);
    let coherent = flags.contains(Has::HOST_VISIBLE | Has::HOST_COHERENT);
    match purpose {
        Purpose::Bulk => Some((local, !mapped, heap)),
        Purpose::Both => coherent.then_some((cached, local, heap)),
        Purpose::Host => coherent.then_some((cached, !local, heap)),
        Purpose::Arguments => coherent.then_some((local, cached, heap)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: Has = Has::DEVICE_LOCAL;
    const MAPPED: Has = Has::from_raw(Has::HOST_VISIBLE.as_raw() | Has::HOST_COHERENT.as_raw());
    const CACHED: Has = Has::from_raw(MAPPED.as_raw() | Has::HOST_CACHED.as_raw());
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    /// A device with heaps of so many bytes, and types: what they are, and of which heap.
    fn device(heaps: &[u64], types: &[(Has, u32)]) -> vk::PhysicalDeviceMemoryProperties {
        let mut all = vk::PhysicalDeviceMemoryProperties {
            memory_heap_count: heaps.len() as u32,
            memory_type_count: types.len() as u32,
            ..Default::default()
        };
        for (heap, size) in all.memory_heaps.iter_mut().zip(heaps) {
            heap.size = *size;
        }
        for (kind, (flags, heap)) in all.memory_types.iter_mut().zip(types) {
            (kind.property_flags, kind.heap_index) = (*flags, *heap);
        }
        all
    }

    /// The types that are chosen for bulk data, for such data where both share one memory, for the
    /// host's, and for arguments.
    fn check(name: &str, device: &vk::PhysicalDeviceMemoryProperties, want: [u32; 4]) {
        let all = [Purpose::Bulk, Purpose::Both, Purpose::Host, Purpose::Arguments];
        let found = all.map(|purpose| best(device, u32::MAX, purpose));
        assert_eq!(found, want.map(|at| 1 << at), "{name}");
    }

    /// Tables as devices report them. Each type is the only best one of its device.
    #[test]
    fn memory_types_of_real_devices_are_chosen() {
        let (none, local) = (Has::empty(), LOCAL);
        // NVIDIA: the device's memory, the host's, and 246 MiB of the device's that are mapped.
        let nvidia = [(none, 1), (local, 0), (MAPPED, 1), (CACHED, 1), (local | MAPPED, 2)];
        check("NVIDIA", &device(&[24 * GIB, 32 * GIB, 246 * MIB], &nvidia), [1, 3, 3, 4]);
        // With a resizable BAR all of the device's memory is mapped.
        let nvidia = [(none, 1), (local, 0), (MAPPED, 1), (CACHED, 1), (local | MAPPED, 0)];
        check("NVIDIA, resizable BAR", &device(&[24 * GIB, 32 * GIB], &nvidia), [1, 3, 3, 4]);
        // AMD's APU: a small heap is the device's, and types that want a feature come last.
        let wants = Has::DEVICE_COHERENT_AMD | Has::DEVICE_UNCACHED_AMD;
        let amd = [
            (local, 1),
            (MAPPED, 0),
            (local | MAPPED, 1),
            (CACHED, 0),
            (local | wants, 1),
            (MAPPED | wants, 0),
            (local | MAPPED | wants, 1),
            (CACHED | wants, 0),
        ];
        check("AMD APU", &device(&[15 * GIB, 512 * MIB], &amd), [0, 3, 3, 2]);
        // AMD's discrete GPU, all of whose memory is mapped.
        let amd = [(local, 0), (MAPPED, 1), (local | MAPPED, 0), (CACHED, 1)];
        check("AMD, resizable BAR", &device(&[16 * GIB, 32 * GIB], &amd), [0, 3, 3, 2]);
        // Intel's integrated GPU: one heap, twice.
        let intel = [(local | MAPPED, 0), (local | CACHED, 0)];
        let device_of_intel = device(&[24 * GIB], &intel);
        let all = [Purpose::Both, Purpose::Host, Purpose::Arguments];
        assert_eq!(all.map(|purpose| best(&device_of_intel, 3, purpose)), [2; 3], "Intel");
        // lavapipe: one type.
        check("lavapipe", &device(&[2 * GIB], &[(local | CACHED, 0)]), [0; 4]);
        // Whose only mapped type is not cached.
        let uncached = [(local, 0), (local | MAPPED, 0)];
        check("uncached", &device(&[4 * GIB], &uncached), [0, 1, 1, 1]);
    }

    /// A resource that not all types do for has the best of the others; or none.
    #[test]
    fn memory_types_are_of_those_that_a_buffer_may_have() {
        let types = [(LOCAL, 0), (MAPPED, 1), (CACHED, 1), (Has::HOST_VISIBLE, 1)];
        let device = device(&[GIB, GIB], &types);
        assert_eq!(best(&device, 0b1011, Purpose::Host), 0b0010);
        assert_eq!(best(&device, 0b1001, Purpose::Host), 0, "none that is coherent");
        assert_eq!(best(&device, 0b1110, Purpose::Bulk), 0b1000 | 0b0110, "none of the device's");
        assert_eq!(best(&device, 0, Purpose::Bulk), 0);
    }
}
