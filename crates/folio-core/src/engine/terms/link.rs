//! Two allocations of a storage that are one memory, and whose turn it is.

use crate::hal::Side;
use crate::pages::DomainId;
use folio_kernel::words;
use std::fmt;

/// Whether the host and devices that share its memory use one allocation of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Links {
    /// With devices that say that they share the host's memory.
    #[default]
    Auto,
    /// With all devices that can.
    On,
    /// With none.
    Off,
}

/// How the allocations of a buffer on the host and on a device stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Linkage {
    /// They are one memory.
    Linked,
    /// The device has none yet.
    Undecided,
    /// They are not one memory.
    NotLinked(NotLinked),
}

/// Why two allocations are not one memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotLinked {
    /// The runtime was told not to link.
    SwitchedOff,
    /// The device does not share the host's memory, or cannot map.
    NotShared,
    /// The buffer's memory on the host is linked to another device's.
    LinkedToAnother,
    /// The device's memory was made as USM.
    Usm,
    /// The host's memory was in use when the device's was made: by a command or a guard.
    InUse,
    /// The host's memory is not aligned to so many bytes, which the device needs.
    Misaligned(u64),
    /// The backend refused.
    Refused,
    /// The host's memory is a device's own: page-locked, or USM of the host's kind.
    PageLocked,
    /// The program has asked for an address ([`Buffer::pointer`](crate::Buffer::pointer)), and host
    /// and device find linked memory at different ones.
    Pointed,
    /// The device is lost.
    Lost,
}

impl NotLinked {
    /// The device uses memory of the host as its own, and could not use this one.
    pub(in crate::engine) fn is_refusal(self) -> bool {
        matches!(self, NotLinked::InUse | NotLinked::Misaligned(_) | NotLinked::Refused)
    }
}

impl fmt::Display for NotLinked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotLinked::SwitchedOff => f.write_str("links are switched off"),
            NotLinked::NotShared => f.write_str("the device does not share the host's memory"),
            NotLinked::LinkedToAnother => {
                f.write_str("the host's memory is linked to another device's")
            }
            NotLinked::Usm => f.write_str("the device's memory was made as USM"),
            NotLinked::InUse => f.write_str("the host's memory was in use"),
            NotLinked::Misaligned(align) => {
                write!(f, "the host's memory is not aligned to {}", words::bytes(*align))
            }
            NotLinked::Refused => f.write_str("the backend refused"),
            NotLinked::PageLocked => f.write_str("the host's memory is page-locked"),
            NotLinked::Pointed => f.write_str("the program has asked for an address of it"),
            NotLinked::Lost => f.write_str("the device is lost"),
        }
    }
}

/// A linked pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// The other side; one is the host.
    pub(crate) device: DomainId,
    /// As far as that was submitted.
    pub(crate) turn: Turn,
    /// The memory is the host's, and not the device's.
    pub(crate) over_host: bool,
    /// The program has the address, which is one for both sides: the host uses the memory without
    /// a turn.
    pub(crate) pointed: bool,
}

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turn {
    /// Who uses the memory.
    pub(crate) active: Side,
    /// The host's own memory may lack something: the device has written, or it was unmapped.
    pub(in crate::engine) written: bool,
}

impl Link {
    /// The device has the memory first.
    pub(in crate::engine) fn new(device: DomainId, over_host: bool) -> Link {
        let turn = Turn { active: Side::Device, written: false };
        Link { device, turn, over_host, pointed: false }
    }

    /// `domain` is one of its sides.
    pub(crate) fn joins(&self, domain: DomainId) -> bool {
        domain.is_host() || domain == self.device
    }

    /// The host finds in the memory what it should, as far as commands have ended.
    pub(in crate::engine) fn host_has_it(&self) -> bool {
        self.pointed || self.turn.active != Side::Device
    }

    /// Says how it was before.
    pub(crate) fn switched(&mut self, to: Side) -> Turn {
        // The contents that the host finds in memory that it has unmapped are open.
        let next = Turn { active: to, written: to == Side::Device };
        std::mem::replace(&mut self.turn, next)
    }
}
