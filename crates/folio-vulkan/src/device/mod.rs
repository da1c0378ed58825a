//! Devices: the loader and its instance, what a device says of itself and what is measured of it,
//! its queues, its lanes and its allocator.

pub(crate) mod calls;
pub(crate) mod extensions;
pub(crate) mod messages;
pub(crate) mod names;
pub(crate) mod platform;
pub(crate) mod probe;
pub(crate) mod queues;

use crate::device::calls::Inside;
use crate::device::names::Names;
use crate::device::platform::{Found, Shared, create, driver};
use crate::device::queues::Use;
use crate::kernels::module::{LoadedKernel, Target};
use crate::kernels::opaque::Opaque;
use crate::lane::VulkanLane;
use crate::lane::counts::Total;
use crate::lane::graph::VulkanGraph;
use crate::lane::pace::Speed;
use crate::memory::Memory;
use crate::memory::stages::Stages;
use ash::vk;
use folio_cache::Cache;
use folio_core::hal::{
    AllocReq, Allocation, Argument, Calls, Device, DeviceInfo, DeviceKind, Geometry, Graph,
    HalError, HalErrorKind, KernelHandle, KernelSource, Lane, LaneKind, Lost, MemoryInfo, Node,
    PointerInfo, Source, UsmAllocator,
};
use folio_driver::kernels::Kernels;
use folio_driver::lock;
use folio_driver::loss::Loss;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// A device's objects.
pub(crate) struct Core {
    /// Its messenger goes after its devices.
    pub(crate) shared: Arc<Shared>,
    pub(crate) device: ash::Device,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) info: DeviceInfo,
    pub(crate) target: Target,
    pub(crate) memory: Memory,
    /// All lanes that run kernels submit to it, one at a time.
    queue: Mutex<vk::Queue>,
    /// The same for lanes that copy, where they have a queue of their own.
    copies: Option<Mutex<vk::Queue>>,
    pub(crate) speed: Speed,
    /// The submitted commands, as far as barriers depend on them.
    #[cfg(test)]
    pub(crate) trail: Mutex<Vec<crate::lane::audit::Event>>,
    /// The compiled programs of drivers, on disk.
    pub(crate) cache: Cache,
    /// How every kernel is given its arguments: one address.
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) names: Names,
    pub(crate) stages: Stages,
    /// How memory of the host is imported, if it can be.
    pub(crate) imports: Option<ash::ext::external_memory_host::Device>,
    /// How memory is exported, if it can be.
    #[cfg_attr(not(unix), expect(dead_code, reason = "what is exported is a file"))]
    pub(crate) files: Option<ash::khr::external_memory_fd::Device>,
    kernels: Kernels<Loaded>,
    /// The kernel that fills memory.
    pub(crate) fill: OnceLock<Result<Arc<LoadedKernel>, HalError>>,
    /// Timeline semaphores of lanes that are gone, for the next ones.
    timelines: Mutex<Vec<vk::Semaphore>>,
    loss: Loss,
    /// When it was opened, and what the device's clock said less the host's from then on.
    opened: Instant,
    ahead: OnceLock<u64>,
}

/// The kernel of a handle.
#[derive(Clone, Debug)]
pub(crate) enum Loaded {
    Kernel(Arc<LoadedKernel>),
    /// A kernel of the user's.
    Opaque(Arc<Opaque>),
}

impl Loaded {
    /// How many operations each item does, about.
    pub(crate) fn operations(&self) -> u64 {
        match self {
            Loaded::Kernel(function) => function.operations,
            // The module's operations are not known.
            Loaded::Opaque(_) => 64,
        }
    }

    /// # Safety
    /// As [`LoadedKernel::destroy`].
    unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Loaded::Kernel(function) => function.destroy(device),
                Loaded::Opaque(opaque) => opaque.destroy(device),
            }
        }
    }
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Core {
    fn new(found: &Found, cache: Cache) -> Result<Core, HalError> {
        // A core that is given up below goes before this does.
        let _alone = found.shared.alone();
        let device = create(found)?;
        let names = Names::new(&found.shared, &device);
        let memory = Memory::new(found, &device, &names).inspect_err(|_| {
            // SAFETY: nothing of it is there.
            unsafe { device.destroy_device(None) };
        })?;
        let imports =
            found.target.import.is_some().then(|| {
                ash::ext::external_memory_host::Device::new(&found.shared.instance, &device)
            });
        let files =
            found.info.caps.exports.then(|| {
                ash::khr::external_memory_fd::Device::new(&found.shared.instance, &device)
            });
        let families = found.target.families;
        // SAFETY: the device was created with one queue of each of these families.
        let [queue, copies] = [Some(families.compute), families.copies]
            .map(|family| family.map(|family| unsafe { device.get_device_queue(family, 0) }));
        let queue = queue.unwrap_or_default();
        let is_cpu = found.info.kind == DeviceKind::Cpu;
        let mut core = Core {
            shared: found.shared.clone(),
            device,
            physical: found.physical,
            info: found.info.clone(),
            target: found.target,
            memory,
            queue: Mutex::new(queue),
            copies: copies.map(Mutex::new),
            speed: Speed::new(found.info.compute_units, is_cpu),
            #[cfg(test)]
            trail: Mutex::default(),
            cache,
            layout: vk::PipelineLayout::null(),
            names,
            stages: Stages::default(),
            imports,
            files,
            kernels: Kernels::default(),
            fill: OnceLock::new(),
            timelines: Mutex::default(),
            loss: Loss::default(),
            opened: Instant::now(),
            ahead: OnceLock::new(),
        };
        let pushed =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(8)];
        let layout = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&pushed);
        // SAFETY: the device is there, and the description complete.
        core.layout = unsafe { core.device.create_pipeline_layout(&layout, None) }
            .map_err(|result| driver("vkCreatePipelineLayout", result))?;
        core.name(core.layout, "folio arguments");
        core.name(core.device.handle(), "folio device");
        core.name(queue, "folio queue");
        copies.into_iter().for_each(|queue| core.name(queue, "folio copies"));
        Calls::end_with_the_process();
        Ok(core)
    }

    /// The counts of its backend's devices.
    pub(crate) fn counts(&self) -> &Total {
        &self.shared.counts
    }

    /// Begins calls of the driver.
    pub(crate) fn inside(&self) -> Inside {
        self.shared.inside()
    }

    /// Names an object that no other thread names or destroys meanwhile.
    pub(crate) fn name<T: vk::Handle>(&self, object: T, name: &str) {
        self.names.set(object, name);
    }

    /// Notes what is submitted now.
    #[cfg(test)]
    pub(crate) fn note(&self, trail: &mut Vec<crate::lane::audit::Event>) {
        lock(&self.trail).append(trail);
    }

    pub(crate) fn queue(&self, which: Use) -> MutexGuard<'_, vk::Queue> {
        let queue = match which {
            Use::Compute => &self.queue,
            Use::Copies => self.copies.as_ref().unwrap_or(&self.queue),
        };
        lock(queue)
    }

    /// A timeline semaphore, and the value that it has.
    pub(crate) fn timeline(&self) -> Result<(vk::Semaphore, u64), HalError> {
        let kept = lock(&self.timelines).pop();
        if let Some(semaphore) = kept.filter(|_| self.lost().is_ok()) {
            // SAFETY: it is there.
            let value = unsafe { self.device.get_semaphore_counter_value(semaphore) };
            return match value {
                Ok(value) => Ok((semaphore, value)),
                Err(result) => {
                    self.keep_timeline(semaphore);
                    self.told(Err(driver("vkGetSemaphoreCounterValue", result)))
                }
            };
        }
        kept.into_iter().for_each(|semaphore| self.keep_timeline(semaphore));
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let create = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is there, and the description complete.
        let semaphore = unsafe { self.device.create_semaphore(&create, None) }
            .map_err(|result| driver("vkCreateSemaphore", result))?;
        self.name(semaphore, "folio lane");
        Ok((semaphore, 0))
    }

    /// A pool of command buffers, which are recorded again and again.
    pub(crate) fn command_pool(&self, queue: Use) -> Result<vk::CommandPool, HalError> {
        let create = vk::CommandPoolCreateInfo::default()
            .queue_family_index(self.target.families.of(queue))
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the device is there, and the description complete.
        let pool = unsafe { self.device.create_command_pool(&create, None) }
            .map_err(|result| driver("vkCreateCommandPool", result))?;
        self.name(pool, "folio commands");
        Ok(pool)
    }

    /// Takes a semaphore back, whose last submission has ended. Mesa's queue may look at it after
    /// that, so it is destroyed with the device (docs/drivers.md).
    pub(crate) fn keep_timeline(&self, semaphore: vk::Semaphore) {
        lock(&self.timelines).push(semaphore);
    }

    pub(crate) fn loaded(&self, handle: KernelHandle) -> Result<Loaded, HalError> {
        self.kernels.get(handle).cloned()
    }

    /// Remembers a loss. Commands that the driver has end then, says Vulkan, so nothing of them
    /// touches memory when the loss is told.
    pub(crate) fn told<T>(&self, answer: Result<T, HalError>) -> Result<T, HalError> {
        answer.inspect_err(|error| {
            if matches!(error.kind, HalErrorKind::Lost) && self.lost().is_ok() {
                let queue = self.queue(Use::Compute);
                let copies = self.copies.as_ref().map(lock);
                // SAFETY: the queues are held, so no other thread submits.
                let _ = unsafe { self.device.device_wait_idle() };
                drop((queue, copies));
                self.loss.lose(error.message.clone());
            }
        })
    }

    pub(crate) fn lost(&self) -> Result<(), Lost> {
        self.loss.check()
    }

    /// Ticks of the device's clock in nanoseconds.
    pub(crate) fn nanoseconds(&self, ticks: u64) -> u64 {
        (ticks as f64 * f64::from(self.target.period)) as u64
    }

    /// The time of the device's clock, as far as the host knows.
    pub(crate) fn now(&self) -> u64 {
        let own = || u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let ahead = self.ahead.get_or_init(|| {
            let there = self.clock().unwrap_or_default();
            there.saturating_sub(own())
        });
        ahead.saturating_add(own())
    }

    /// Asks the device's clock, and waits for that.
    fn clock(&self) -> Option<u64> {
        if !self.info.caps.timing {
            return None;
        }
        let create =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        let device = &self.device;
        // SAFETY: the query is this call's, which waits for its use.
        unsafe {
            let pool = device.create_query_pool(&create, None).ok()?;
            self.name(pool, "folio clock");
            let done = self.at_once(|commands| {
                let all = vk::PipelineStageFlags2::ALL_COMMANDS;
                device.cmd_reset_query_pool(commands, pool, 0, 1);
                device.cmd_write_timestamp2(commands, all, pool, 0);
            });
            let mut ticks = [0u64];
            let flags = vk::QueryResultFlags::TYPE_64;
            let read =
                done.is_ok() && device.get_query_pool_results(pool, 0, &mut ticks, flags).is_ok();
            device.destroy_query_pool(pool, None);
            read.then(|| self.nanoseconds(ticks[0]))
        }
    }

    /// Fills an allocation with zeros, and waits for that.
    pub(crate) fn clear(&self, handle: u64) -> Result<(), HalError> {
        let block = self.memory.find(handle)?;
        // SAFETY: the buffer is live until this returns.
        self.at_once(|commands| unsafe {
            self.device.cmd_fill_buffer(commands, block.buffer, 0, vk::WHOLE_SIZE, 0);
        })
    }

    /// Has the device do something, and waits for that.
    pub(crate) fn at_once(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), HalError> {
        let _inside = self.inside();
        let family = self.target.families.compute;
        let create = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        let device = &self.device;
        let run = |pool| -> Result<(), vk::Result> {
            let one =
                vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let begin = vk::CommandBufferBeginInfo::default()
                .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            // SAFETY: the pool is this call's, which waits for its commands.
            unsafe {
                let made = device.allocate_command_buffers(&one)?;
                let commands = made.first().copied().unwrap_or_default();
                self.name(commands, "folio at once");
                device.begin_command_buffer(commands, &begin)?;
                record(commands);
                device.end_command_buffer(commands)?;
                let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
                let submit = [vk::SubmitInfo2::default().command_buffer_infos(&buffers)];
                let fence = device.create_fence(&vk::FenceCreateInfo::default(), None)?;
                self.name(fence, "folio at once");
                let submitted = device.queue_submit2(*self.queue(Use::Compute), &submit, fence);
                let waited =
                    submitted.and_then(|()| device.wait_for_fences(&[fence], true, u64::MAX));
                device.destroy_fence(fence, None);
                waited
            }
        };
        // SAFETY: the device is there; the pool goes when nothing of it is under way.
        let done = unsafe {
            let pool = device
                .create_command_pool(&create, None)
                .map_err(|result| driver("vkCreateCommandPool", result))?;
            self.name(pool, "folio at once");
            let done = run(pool);
            device.destroy_command_pool(pool, None);
            done
        };
        self.told(done.map_err(|result| driver("vkQueueSubmit2", result)))
    }
}

/// A device that is open. The state that it shares with its lanes and graphs.
#[derive(Debug)]
pub(crate) struct Opened(ManuallyDrop<Core>);

impl Deref for Opened {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.0
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: nothing uses the field after this.
        let core = unsafe { ManuallyDrop::take(&mut self.0) };
        let shared = core.shared.clone();
        shared.end(move || drop(core));
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if Calls::are_over() {
            return;
        }
        let kernels = self.kernels.drain().map(|loaded| *loaded);
        let fill = self.fill.take().and_then(Result::ok);
        let timelines =
            std::mem::take(self.timelines.get_mut().unwrap_or_else(PoisonError::into_inner));
        // SAFETY: lanes hold this, so none is left, and each has waited for what it submitted;
        // nothing of the device is used after that.
        unsafe {
            let _ = self.device.device_wait_idle();
            for function in kernels.chain(fill.map(Loaded::Kernel)) {
                function.destroy(&self.device);
            }
            for semaphore in timelines {
                self.device.destroy_semaphore(semaphore, None);
            }
            for stage in self.stages.drain() {
                self.memory.release(&self.device, stage);
            }
            self.memory.destroy(&self.device);
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_device(None);
        }
    }
}

/// An opened device.
pub(crate) struct VulkanDevice(pub(crate) Arc<Opened>);

impl VulkanDevice {
    pub(crate) fn open(found: &Found, cache: Cache) -> Result<VulkanDevice, HalError> {
        Ok(VulkanDevice(Arc::new(Opened(ManuallyDrop::new(Core::new(found, cache)?)))))
    }
}

// SAFETY: lanes and allocator keep the HAL's contract; see `VulkanLane` and `Memory`.
unsafe impl Device for VulkanDevice {
    fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn usm(&self) -> &dyn UsmAllocator {
        self
    }

    fn lane(&self, kind: LaneKind, _: i8) -> Result<Arc<dyn Lane>, HalError> {
        let _inside = self.0.inside();
        self.0.lost()?;
        let queue = match kind {
            LaneKind::Compute => Use::Compute,
            _ if self.0.copies.is_none() => Use::Compute,
            LaneKind::Upload | LaneKind::Download | LaneKind::Peer => Use::Copies,
        };
        let lane = self.0.told(VulkanLane::new(self.0.clone(), queue))?;
        Ok(lane)
    }

    fn load(&self, source: &KernelSource<'_>) -> Result<KernelHandle, HalError> {
        let _inside = self.0.inside();
        self.0.lost()?;
        let made = match source {
            KernelSource::Ir(kernel) => {
                LoadedKernel::new(&self.0, kernel).map(Arc::new).map(Loaded::Kernel)
            }
            KernelSource::Opaque { name, source: Source::SpirV(image), .. } => {
                Opaque::new(&self.0, name, image.bytes()).map(Arc::new).map(Loaded::Opaque)
            }
            KernelSource::Opaque { source, .. } => Err(HalError::unsupported(source.language())),
            _ => Err(HalError::unsupported("code of this kind")),
        };
        let made = self.0.told(made)?;
        self.0.kernels.add(made)
    }

    fn prepare(&self, handle: KernelHandle) -> Result<(), HalError> {
        let _inside = self.0.inside();
        self.0.lost()?;
        match self.0.loaded(handle)? {
            Loaded::Kernel(function) => self.0.told(function.prepare(&self.0)),
            Loaded::Opaque(_) => Ok(()),
        }
    }

    fn unload(&self, handle: KernelHandle) {
        let _inside = self.0.inside();
        // SAFETY: every operation that names it has ended (the engine's part of the contract).
        unsafe {
            if let Some(function) = self.0.kernels.remove(handle) {
                function.destroy(&self.0.device);
            }
        }
    }

    fn graph(&self, nodes: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        self.0.lost()?;
        Ok(Arc::new(VulkanGraph::new(&self.0, nodes)?))
    }

    fn check(
        &self,
        handle: KernelHandle,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), HalError> {
        match self.0.loaded(handle)? {
            Loaded::Kernel(function) => function.check(&self.0, geometry),
            Loaded::Opaque(opaque) => opaque.check(&self.0, geometry, arguments),
        }
    }
}

// SAFETY: allocations are buffers of their own, which stay until `free`.
unsafe impl UsmAllocator for VulkanDevice {
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let _inside = self.0.inside();
        self.0.lost()?;
        let made = self.0.alloc(req);
        self.0.told(made)
    }

    fn free(&self, handle: u64) {
        let _inside = self.0.inside();
        self.0.free_memory(handle);
    }

    fn memory(&self) -> MemoryInfo {
        let _inside = self.0.inside();
        self.0.memory_info()
    }

    #[cfg(unix)]
    fn export(&self, handle: u64) -> Result<folio_core::hal::Exported, HalError> {
        let _inside = self.0.inside();
        self.0.lost()?;
        let made = self.0.export(handle);
        self.0.told(made)
    }

    fn query(&self, address: u64) -> Option<PointerInfo> {
        self.0.pointer_info(address)
    }
}
