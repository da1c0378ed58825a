//! Kernels by way of a backend, as the engine would launch them, with arguments as the interpreter
//! has them.

use super::launch::{Framed, Ran, three};
use folio_core::hal::{
    AllocKind, AllocReq, Args, Backend, CopyRect, Device, Geometry, HalError, HalErrorKind, Head,
    HostPtr, KernelRef, KernelSource, Lane, LaneKind, MemBase, MemRef, Notify, Op, Order, Param,
    Tick,
};
use folio_kernel::launch::Launch;
use folio_kernel::{Access, Builder, Owner, ParamKind, Query, Scalar};
use folio_model::interp::{self, Arg};
use folio_model::kernels::Case;
use std::sync::{Arc, Mutex, PoisonError};

/// A device of a backend and a lane of it.
pub struct Machine {
    device: Arc<dyn Device>,
    lane: Arc<dyn Lane>,
    at: u32,
    /// The interpreter's settings for this device.
    pub like: interp::Device,
    /// What the lane has, and whoever uses it.
    last: Mutex<Tick>,
}

/// Memory of the device, given back at the end.
struct Held<'m>(&'m Machine, u64);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.device.usm().free(self.1);
    }
}

fn said(what: &str) -> impl Fn(HalError) -> String {
    move |error| format!("{what}: {error}")
}

impl Machine {
    /// The device with this number; an error says why there is none.
    pub fn open(backend: &dyn Backend, at: usize) -> Result<Machine, String> {
        backend.devices().map_err(|why| why.reason)?;
        // SAFETY: this module keeps the contract.
        let device = unsafe { backend.open(at, Notify::none()) }.map_err(said("opening"))?;
        let lane = device.lane(LaneKind::Compute, 0).map_err(said("a lane"))?;
        let like = interp::Device::default();
        let mut machine = Machine { device, lane, at: at as u32, like, last: Mutex::default() };
        machine.like.width = machine.subgroup_size()?;
        Ok(machine)
    }

    /// Threads of a sub-group, as a kernel sees it.
    fn subgroup_size(&self) -> Result<u64, String> {
        let mut b = Builder::groups("width", 1);
        let y = b.view("y", Scalar::U64, 1, Access::Out, Owner::Item);
        b.phase(|b| {
            let i = b.position(0);
            let size = b.query(Query::SubgroupSize, 0);
            b.store_at(y, [i], size);
        });
        let kernel = b.finish().map_err(|error| error.to_string())?;
        let args = vec![Arg::View { extent: vec![1], bytes: vec![0; 8] }];
        let launch = Launch {
            range: [1; 3],
            group: [1; 3],
            scalars: vec![None],
            extents: vec![[1; 3]],
            ..Launch::default()
        };
        let ran = self.run(&Case { kernel, launch, args }, 0, true)?;
        match &ran.args[..] {
            [Arg::View { bytes, .. }] => {
                let bytes = bytes[..].try_into().map_err(|_| "no number".to_owned())?;
                Ok(u64::from_le_bytes(bytes))
            }
            other => Err(format!("{other:?}")),
        }
    }

    fn memory(&self, size: usize) -> Result<(Held<'_>, MemRef), String> {
        let (kind, size, align) = (AllocKind::Device, size as u64, 256);
        let req = AllocReq {
            kind,
            size,
            align,
            import: None,
            zeroed: false,
            linked: false,
            exported: false,
            label: "random",
        };
        let handle = self.device.usm().alloc(&req).map_err(said("memory"))?.handle;
        let base = MemBase::Device { device: self.at, handle };
        Ok((Held(self, handle), MemRef { base, offset: 0 }))
    }

    /// Compiles and runs a kernel, of which is `proved` what [`Args::proved`] says.
    pub fn run(&self, case: &Case, margin: usize, proved: bool) -> Result<Ran, String> {
        let kernel = &case.kernel;
        let handle = self.device.load(&KernelSource::Ir(kernel)).map_err(said("loading"))?;
        let (mut framed, mut params, mut held, mut blob) = (vec![], vec![], vec![], vec![]);
        for (param, arg) in kernel.params.iter().zip(&case.args) {
            let (element, made, write) = match (&param.kind, arg) {
                (ParamKind::View { element, rank, access, .. }, Arg::View { extent, bytes }) => {
                    let size = kernel.types.layout(*element).0 as usize;
                    let framed = Framed::new(*rank, extent, size, bytes, margin);
                    (*element, framed, *access != Access::In)
                }
                (ParamKind::Reduce { element, .. }, Arg::Reduce(bytes)) => {
                    let size = kernel.types.layout(*element).0 as usize;
                    (*element, Framed::new(1, &[1], size, bytes, margin), true)
                }
                (_, Arg::Scalar(bytes)) => {
                    blob.extend_from_slice(bytes);
                    blob.resize(blob.len().next_multiple_of(8), 0);
                    continue;
                }
                _ => continue,
            };
            let (hold, mem) = self.memory(made.bytes.len())?;
            let size = kernel.types.layout(element).0 as u32;
            let folio_kernel::code::ParamPtr { dims, origin, extent, index, shape, .. } = made.ptr;
            params.push(Param { mem, size, write, dims, origin, extent, index, shape });
            framed.push(made);
            held.push(hold);
        }
        let rank = kernel.shape.rank;
        let lengths = |of: &[u64; 3]| three(rank, of).map(|n| n as usize);
        let first = lengths(&case.launch.offset);
        let geometry = Geometry {
            rank,
            offset: std::array::from_fn(|d| if d + usize::from(rank) < 3 { 0 } else { first[d] }),
            range: lengths(&case.launch.range),
            group: kernel.shape.groups.then(|| lengths(&case.launch.group)),
            shape: 0,
        };
        let args = Args { blob: &blob, proved, ..Args::new(&params) };
        let violation = self.work(&mut framed, &params, |lane, head| {
            lane.enqueue(head, Op::Launch(KernelRef::Loaded(handle), &geometry, args))
        })?;
        let mut framed = framed.into_iter();
        let mut inside = || {
            let mut framed = framed.next().ok_or("an argument is missing")?;
            let bytes = std::mem::take(&mut framed.bytes);
            framed.after(bytes)
        };
        let after = |arg: &Arg| -> Result<Arg, String> {
            Ok(match arg {
                Arg::View { extent, .. } => Arg::View { extent: extent.clone(), bytes: inside()? },
                Arg::Reduce(_) => Arg::Reduce(inside()?),
                other => other.clone(),
            })
        };
        let after = case.args.iter().map(after).collect::<Result<_, _>>()?;
        Ok(Ran { text: String::new(), violation, args: after })
    }

    /// Everything goes up, is worked with, and comes down; says what the work did wrong.
    fn work(
        &self,
        framed: &mut [Framed],
        params: &[Param],
        launch: impl FnOnce(&dyn Lane, &Head<'_>) -> Result<(), HalError>,
    ) -> Result<Option<folio_kernel::Violation>, String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut head = || {
            *last += 1;
            let order = Order::AfterPrevious;
            Head { tick: *last, order, waits: &[], label: "random", timed: false }
        };
        let copies: Vec<_> = framed
            .iter_mut()
            .zip(params)
            .map(|(framed, param)| {
                let base = MemBase::Host(HostPtr(framed.bytes.as_mut_ptr()));
                (MemRef { base, offset: 0 }, param.mem, framed.bytes.len() as u64)
            })
            .collect();
        let copy = |head: &Head<'_>, src, dst, bytes| {
            let pitch = [bytes; 2];
            let rect =
                CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent: [1, 1, bytes] };
            self.lane.enqueue(head, Op::Copy(&[rect])).map_err(said("a copy"))
        };
        for (host, device, bytes) in &copies {
            copy(&head(), *host, *device, *bytes)?;
        }
        let head_of_launch = head();
        let launched = head_of_launch.tick;
        launch(&*self.lane, &head_of_launch).map_err(said("the launch"))?;
        for (host, device, bytes) in &copies {
            copy(&head(), *device, *host, *bytes)?;
        }
        self.lane.wait(*last, None).map_err(|lost| lost.reason.to_string())?;
        let mut failed = Ok(None);
        self.lane.failures(&mut |tick, error| match (&error.kind, tick == launched) {
            (HalErrorKind::Violation(what), true) => failed = Ok(Some((**what).clone())),
            _ => failed = Err(format!("operation {tick}, the launch being {launched}: {error}")),
        });
        failed
    }
}
