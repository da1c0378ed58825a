//! Loans: guards over a device's memory, for code outside of Folio that takes an address.

use super::{GuardLease, contiguous, wait};
use crate::buffer::part::{AsPart, AsPartMut, Part};
use crate::element::DeviceType;
use crate::engine::guard::GuardPlace;
use crate::engine::terms::access::Mode;
use crate::error::{Error, Label, Result};
use crate::runtime::DeviceRef;
use std::marker::PhantomData;

/// The latest contents of a part of a buffer, in a device's memory, for libraries that take an
/// address. Made by [`DeviceRef::lend`] and [`DeviceRef::lend_mut`].
///
/// While it lives, the memory stays where it is, and what would conflict with the library's use is
/// refused with [`Error::HostAccessHeld`]: writes, and with `lend_mut` reads, too.
pub struct Loan<T: DeviceType, const D: usize = 1> {
    held: GuardLease,
    device: DeviceRef,
    address: u64,
    is_mutable: bool,
    _elements: PhantomData<fn() -> T>,
}

impl<T: DeviceType, const D: usize> Loan<T, D> {
    fn take(part: &Part, mode: Mode, device: &DeviceRef) -> Result<Loan<T, D>> {
        let storage = &part.view.storage;
        if !device.core.same(&storage.core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label, by: None });
        }
        contiguous(part)?;
        let engine = &storage.core.engine;
        let domain = engine.devices[usize::from(device.at)].domain;
        engine.open(device.at)?;
        let (held, start) = if domain.is_host() || part.part.is_empty() {
            let held = wait(GuardLease::take(part, mode)?)?;
            let start = held.taken.host.0.expose_provenance() as u64;
            (held, start)
        } else {
            let at = GuardPlace::Device(domain);
            // Memory whose address is asked for stays there: not for a loan that is refused.
            GuardLease::check(part, mode, at)?;
            let start = engine.address_of(storage.id, domain)?.0.address;
            let held = wait(GuardLease::take_at(part, mode, at)?)?;
            // The engine gives no allocation without an address there.
            (held, start.unwrap_or_default())
        };
        let address = start + (held.run().0 * size_of::<T>()) as u64;
        let (device, is_mutable) = (device.clone(), mode.writes());
        Ok(Loan { held, device, address, is_mutable, _elements: PhantomData })
    }

    /// The address of its first element, in the device's memory. Elements lie row after row,
    /// without gaps.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Its device.
    pub fn device(&self) -> &DeviceRef {
        &self.device
    }

    /// True if the library may write: by [`DeviceRef::lend_mut`].
    pub fn is_mutable(&self) -> bool {
        self.is_mutable
    }

    /// Its shape.
    pub fn shape(&self) -> [usize; D] {
        self.held.shape()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.held.part.volume()
    }

    /// True when there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl DeviceRef {
    /// Brings the latest contents to this device, waits for them, and lends them to a library that
    /// reads them.
    ///
    /// A library is done with the memory, also on streams of its own, before the [`Loan`] is
    /// dropped. A device whose memory has no addresses is [`Error::Unsupported`].
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// # let Some(device) = rt.devices().pop() else { return Ok(()) };
    /// let x = rt.buffer_from((&[1.5f32; 6], [2, 3]))?;
    /// let loan = device.lend(&x)?;
    /// println!("{:?} at {:#x}", loan.shape(), loan.address());
    /// # Ok(())
    /// # }
    /// ```
    pub fn lend<T: DeviceType, const D: usize>(&self, x: impl AsPart<T, D>) -> Result<Loan<T, D>> {
        Loan::take(&x.as_part(), Mode::Read, self)
    }

    /// As [`lend`](Self::lend), to a library that may write, too. What it writes is the latest
    /// contents once the loan is dropped.
    pub fn lend_mut<T: DeviceType, const D: usize>(
        &self,
        mut x: impl AsPartMut<T, D>,
    ) -> Result<Loan<T, D>> {
        Loan::take(&x.as_part_mut(), Mode::Update, self)
    }
}
