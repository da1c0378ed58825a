//! Which families of queues are used: a choice by what a device says of them, and nothing else.

use crate::lane::barriers::Kinds;
use ash::vk;
use ash::vk::QueueFlags as Has;

/// The kinds that families for copies do not have: such have queues of other engines, or of
/// kernels.
const OTHERS: Has = Has::from_raw(
    Has::GRAPHICS.as_raw()
        | Has::COMPUTE.as_raw()
        | Has::VIDEO_DECODE_KHR.as_raw()
        | Has::VIDEO_ENCODE_KHR.as_raw()
        | Has::OPTICAL_FLOW_NV.as_raw(),
);

/// The families that are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Families {
    /// The first that runs kernels.
    pub(crate) compute: u32,
    /// A family that only copies, beside kernels, and has timestamps.
    pub(crate) copies: Option<u32>,
}

/// Which queue a lane submits to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// The one that runs kernels.
    Compute,
    /// A queue that copies beside it.
    Copies,
}

impl Use {
    /// The kinds of operations that the queue has.
    pub(crate) fn kinds(self, all: Kinds) -> Kinds {
        match self {
            Use::Compute => all,
            Use::Copies => all.without_compute(),
        }
    }
}

impl Families {
    /// That of a queue.
    pub(crate) fn of(&self, queue: Use) -> u32 {
        match queue {
            Use::Compute => self.compute,
            Use::Copies => self.copies.unwrap_or(self.compute),
        }
    }

    /// Both, if there are two.
    pub(crate) fn both(&self) -> Option<[u32; 2]> {
        self.copies.map(|copies| [self.compute, copies])
    }
}

/// The families of a device; nothing if it runs no kernels.
pub(crate) fn families(all: &[vk::QueueFamilyProperties]) -> Option<Families> {
    let computes = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(Has::COMPUTE);
    let copies = |family: &vk::QueueFamilyProperties| {
        let flags = family.queue_flags;
        let ticks = family.timestamp_valid_bits > 0;
        flags.contains(Has::TRANSFER) && !flags.intersects(OTHERS) && ticks
    };
    let find = |is: &dyn Fn(&vk::QueueFamilyProperties) -> bool| {
        let used = all.iter().position(|family| family.queue_count > 0 && is(family));
        used.map(|at| at as u32)
    };
    Some(Families { compute: find(&computes)?, copies: find(&copies) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Has =
        Has::from_raw(Has::GRAPHICS.as_raw() | Has::COMPUTE.as_raw() | Has::TRANSFER.as_raw());
    const COMPUTE: Has = Has::from_raw(Has::COMPUTE.as_raw() | Has::TRANSFER.as_raw());
    const COPIES: Has = Has::from_raw(Has::TRANSFER.as_raw() | Has::SPARSE_BINDING.as_raw());

    /// Families with these flags, and bits of timestamps.
    fn check(name: &str, all: &[(Has, u32)], want: Option<(u32, Option<u32>)>) {
        let all: Vec<_> = all
            .iter()
            .map(|(flags, bits)| vk::QueueFamilyProperties {
                queue_flags: *flags,
                queue_count: 1,
                timestamp_valid_bits: *bits,
                ..Default::default()
            })
            .collect();
        let want = want.map(|(compute, copies)| Families { compute, copies });
        assert_eq!(families(&all), want, "{name}");
    }

    /// Tables as devices report them.
    #[test]
    fn families_of_real_devices_are_chosen() {
        let decodes = COPIES | Has::VIDEO_DECODE_KHR;
        let encodes = COPIES | Has::VIDEO_ENCODE_KHR;
        let flow = COPIES | Has::OPTICAL_FLOW_NV;
        let nvidia =
            [(ALL, 64), (COPIES, 64), (COMPUTE, 64), (decodes, 32), (encodes, 32), (flow, 64)];
        check("NVIDIA", &nvidia, Some((0, Some(1))));
        check("AMD (AMDVLK)", &[(ALL, 64), (COMPUTE, 64), (COPIES, 64)], Some((0, Some(2))));
        check("AMD (RADV)", &[(ALL, 64), (COMPUTE, 64), (decodes, 0)], Some((0, None)));
        check("Intel (integrated)", &[(ALL, 36)], Some((0, None)));
        check("Intel (Arc)", &[(ALL, 36), (COMPUTE, 36), (COPIES, 0)], Some((0, None)));
        check("lavapipe", &[(ALL, 64)], Some((0, None)));
        check("kernels in the second one", &[(COPIES, 64), (COMPUTE, 64)], Some((1, Some(0))));
        check("no kernels", &[(COPIES, 64), (flow, 64)], None);
    }
}
