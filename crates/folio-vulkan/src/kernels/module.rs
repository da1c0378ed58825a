//! Kernels in IR: emitted as SPIR-V, and made pipelines of when a launch takes them.

use crate::device::Core;
use crate::device::platform::driver;
use crate::device::queues::Families;
use crate::kernels::outline::Offered;
use crate::kernels::subgroups::{Subgroups, check_row};
use ash::vk;
use folio_cache::Key;
use folio_core::geom::Dims;
use folio_core::hal::{Caps, Geometry, HalError, HalErrorKind, compiling};
use folio_driver::lock;
use folio_driver::memory::Handles;
use folio_kernel::Kernel;
use folio_kernel::code::LocalMemory;
use folio_kernel::emit::spirv::{Capabilities, Module, texts};
use folio_kernel::emit::{LANES, Texts, Threads};
use folio_kernel::words::bytes;
use std::ffi::CString;
use std::sync::{Arc, Mutex};

/// The emitter's capabilities on a device, and the device's limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) capabilities: Capabilities,
    /// `f32` that are denormal are kept.
    pub(crate) denormals: bool,
    /// No proof is believed.
    pub(crate) checked: bool,
    /// The families of its queues.
    pub(crate) families: Families,
    /// Blocks of a dispatch along each axis of the device.
    pub(crate) most_blocks: [u64; 3],
    /// Threads of a block along each axis of the device.
    pub(crate) most_threads: [u32; 3],
    /// How pipelines come to have sub-groups of the size that kernels are made for.
    pub(crate) subgroups: Subgroups,
    /// Bytes to which memory of the host is aligned that the device takes as its own, if it does.
    pub(crate) import: Option<u64>,
    /// Nanoseconds of a tick of its clock.
    pub(crate) period: f32,
    /// The features that modules of others may use.
    pub(crate) offered: Offered,
}

/// A kernel in IR, in all forms.
#[derive(Debug)]
pub(crate) struct LoadedKernel {
    pub(crate) texts: Texts<Built>,
    /// The local memory of its groups.
    room: LocalMemory,
    /// Statements of its body: about what an item does.
    pub(crate) operations: u64,
}

/// A module of a kernel.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) module: Arc<Module>,
    /// Threads of a block, where they are items and no groups.
    pub(crate) block: [u64; 3],
    pipelines: Pipelines,
}

/// A module of the driver's, and its pipelines.
#[derive(Debug)]
pub(crate) struct Pipelines {
    shader: vk::ShaderModule,
    /// Threads that a sub-group must have.
    subgroup: Option<u32>,
    /// The module, for the cache.
    code: Box<[u8]>,
    /// By entry (0 is the kernel's, others finish a reduction) and threads of a block.
    made: Mutex<Handles<(usize, [u32; 3]), vk::Pipeline>>,
}

impl LoadedKernel {
    pub(crate) fn new(core: &Core, kernel: &Kernel) -> Result<LoadedKernel, HalError> {
        let lacks = |why: folio_kernel::emit::Lacks| {
            HalError::new(HalErrorKind::Unsupported, why.to_string())
        };
        let all = texts(kernel, &core.target.capabilities).map_err(lacks)?;
        let room = LocalMemory::of(kernel);
        // The module has memory for a thread at least, which Vulkan counts without any launch.
        check_room(core, room, [1; 3])?;
        let block = all.block;
        let mut made = vec![];
        let built = all.load(|module| {
            let built = Built::new(core, module, block, &kernel.name)?;
            made.push(built.pipelines.shader);
            Ok::<_, HalError>(built)
        });
        let texts = built.inspect_err(|_| {
            for shader in &made {
                // SAFETY: nothing has used it.
                unsafe { core.device.destroy_shader_module(*shader, None) };
            }
        })?;
        let mut operations = 0;
        folio_kernel::walk(&kernel.body, &mut |_| operations += 1);
        let function = LoadedKernel { texts, room, operations };
        // The first text is compiled at once, so that the driver's refusal comes where the kernel
        // is loaded.
        let first = function.texts.text(true).first(core);
        if let Err(error) = first {
            // SAFETY: nothing has used it.
            unsafe { function.destroy(&core.device) };
            return Err(error);
        }
        Ok(function)
    }

    /// Compiles all that launches may take, but for groups of other sizes than one.
    pub(crate) fn prepare(&self, core: &Core) -> Result<(), HalError> {
        self.texts.each(&mut |built| drop(built.first(core)));
        self.texts.text(false).first(core).map(drop)
    }

    /// Its launches combine what their blocks have computed.
    pub(crate) fn reduces(&self) -> bool {
        !self.texts.text(true).module.reductions.is_empty()
    }

    /// Whether the device runs groups of this size.
    pub(crate) fn check(&self, core: &Core, geometry: &Geometry) -> Result<(), HalError> {
        let Some(group) = geometry.group else { return Ok(()) };
        self.check_group(core, group)
    }

    pub(crate) fn check_group(&self, core: &Core, group: Dims) -> Result<(), HalError> {
        check_threads(core, group)?;
        if let Some(width) = self.texts.text(true).module.subgroup {
            check_row(core, group, width)?;
        }
        check_room(core, self.room, group)
    }

    /// # Safety
    /// No command that names it is pending, and nobody launches it any more.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        self.texts.each(&mut |built| {
            // SAFETY: the caller's promise.
            unsafe { built.pipelines.destroy(device) };
        });
    }
}

/// Whether a group has room for its local arrays and what it combines in.
fn check_room(core: &Core, room: LocalMemory, group: Dims) -> Result<(), HalError> {
    let items: usize = group.iter().product();
    let available = core.target.capabilities.base.local_memory;
    let needed = room.of_group(items as u64);
    if needed > available {
        let [needed, available] = [needed, available].map(bytes);
        let what = format!(
            "{needed} of local memory for a group of {group:?} (the device has {available})"
        );
        return Err(HalError::unsupported(&what));
    }
    Ok(())
}

/// Whether the device has groups of so many threads.
pub(crate) fn check_threads(core: &Core, group: Dims) -> Result<(), HalError> {
    let most = core.target.capabilities.base.block as usize;
    let items = group.iter().try_fold(1usize, |all, n| all.checked_mul(*n));
    if items.is_none_or(|items| items > most) {
        let limit = format!("the device has groups of {most} items at most");
        return Err(HalError::large_group(format!("{group:?}"), most, limit));
    }
    let [x, y, z] = core.target.most_threads.map(|n| n as usize);
    let widest = [z, y, x];
    if group.iter().zip(widest).any(|(n, most)| *n > most) {
        let limit = format!("the device has {widest:?} at most");
        return Err(HalError::large_group(format!("{group:?}"), most, limit));
    }
    Ok(())
}

/// A pipeline, with what its driver has compiled before; and what it has compiled now, if it tells.
fn create_in(
    core: &Core,
    create: &[vk::ComputePipelineCreateInfo<'_>; 1],
    compiled: &[u8],
) -> Result<(vk::Pipeline, Option<Vec<u8>>), HalError> {
    let device = &core.device;
    let cache = vk::PipelineCacheCreateInfo::default().initial_data(compiled);
    // SAFETY: the driver gave these bytes for this device, undamaged as far as the cache can know;
    // Vulkan asks of drivers that they look at the head of them.
    let cache = unsafe { device.create_pipeline_cache(&cache, None) }
        .map_err(|result| driver("vkCreatePipelineCache", result))?;
    core.name(cache, "folio pipelines");
    // SAFETY: the module and the layout are this device's; the entry is one of the module's. Nobody
    // else has the cache, which goes at the end.
    unsafe {
        let made = device.create_compute_pipelines(cache, create, None);
        let compiled = device.get_pipeline_cache_data(cache);
        device.destroy_pipeline_cache(cache, None);
        match made {
            Ok(made) => {
                // A driver that keeps nothing gives the head alone.
                let compiled = compiled.ok().filter(|bytes| bytes.len() > HEAD);
                Ok((made.first().copied().unwrap_or_default(), compiled))
            }
            Err((_, result)) => {
                let error = driver("vkCreateComputePipelines", result);
                Err(match error.kind {
                    HalErrorKind::Driver => HalError::new(HalErrorKind::Build, error.message),
                    _ => error,
                })
            }
        }
    }
}

/// Bytes in front of what a driver has compiled.
const HEAD: usize = 32;

/// Threads along the device's axes, of a block with the slowest dimension first.
pub(crate) fn sizes([z, y, x]: [u64; 3]) -> [u32; 3] {
    [x as u32, y as u32, z as u32]
}

impl Built {
    fn new(core: &Core, module: Module, block: [u64; 3], name: &str) -> Result<Built, HalError> {
        let pipelines = Pipelines::new(core, &module.words, name, module.subgroup)?;
        Ok(Built { module: Arc::new(module), block, pipelines })
    }

    /// Threads of a block that combines.
    pub(crate) fn lanes(&self) -> u32 {
        self.module.layout.most_threads.clamp(1, LANES)
    }

    /// The pipeline of the first entry, as most launches take it.
    fn first(&self, core: &Core) -> Result<vk::Pipeline, HalError> {
        match self.module.layout.threads {
            Threads::Groups => self.pipeline(core, 0, [1; 3]),
            Threads::Linear => self.pipeline(core, 0, [self.lanes(), 1, 1]),
            _ => self.pipeline(core, 0, sizes(self.block)),
        }
    }

    /// The pipeline of an entry for blocks of so many threads.
    pub(crate) fn pipeline(
        &self,
        core: &Core,
        entry: usize,
        threads: [u32; 3],
    ) -> Result<vk::Pipeline, HalError> {
        let name = match entry.checked_sub(1).and_then(|at| self.module.reductions.get(at)) {
            Some(reduction) => &reduction.entry,
            None => &self.module.entry,
        };
        self.pipelines.get(core, entry, name, threads)
    }
}

impl Pipelines {
    /// Of a module that needs sub-groups of so many threads, if it depends on them.
    pub(crate) fn new(
        core: &Core,
        words: &[u32],
        name: &str,
        subgroup: Option<u32>,
    ) -> Result<Pipelines, HalError> {
        let create = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words are a valid module that uses what the device has: the emitter's, or,
        // says whoever made an `Image` of them, a compiler's.
        let shader = unsafe { core.device.create_shader_module(&create, None) }
            .map_err(|result| driver("vkCreateShaderModule", result))?;
        core.name(shader, name);
        let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(Pipelines { shader, subgroup, code, made: Mutex::default() })
    }

    /// # Safety
    /// No command that names one of them is pending, and nobody uses them any more.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        let mut made = lock(&self.made);
        // SAFETY: the caller's promise.
        unsafe {
            for (_, pipeline) in made.drain() {
                device.destroy_pipeline(pipeline, None);
            }
            device.destroy_shader_module(self.shader, None);
        }
    }

    /// That of an entry, by its number and name, for blocks of so many threads.
    pub(crate) fn get(
        &self,
        core: &Core,
        entry: usize,
        name: &str,
        threads: [u32; 3],
    ) -> Result<vk::Pipeline, HalError> {
        let mut pipelines = lock(&self.made);
        if let Some(known) = pipelines.get(&(entry, threads)) {
            return Ok(*known);
        }
        let name = CString::new(name)
            .map_err(|_| HalError::new(HalErrorKind::Build, "a name with a zero in it"))?;
        let entries: [vk::SpecializationMapEntry; 3] =
            std::array::from_fn(|axis| vk::SpecializationMapEntry {
                constant_id: axis as u32,
                offset: 4 * axis as u32,
                size: 4,
            });
        let data: Vec<u8> = threads.iter().flat_map(|n| n.to_ne_bytes()).collect();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.shader)
            .name(&name)
            .specialization_info(&specialization);
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        if let Some(width) = self.subgroup {
            let subgroups = core.target.subgroups;
            stage = stage.flags(subgroups.flags(width, threads));
            if subgroups.is_asked() {
                size = size.required_subgroup_size(width);
                stage = stage.push_next(&mut size);
            }
        }
        let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(core.layout)];
        let info = &core.info;
        let shown = name.to_string_lossy();
        let shown = shown.strip_prefix("folio_").unwrap_or(&shown);
        let device = [&info.name, &info.vendor, &info.driver];
        let key = Key::named("vulkan", shown).with(name.as_bytes()).with(&self.code).with(&data);
        let key = device.into_iter().fold(key, Key::with).with(info.uuid.unwrap_or_default());
        let load = |stored: &[u8]| Some(create_in(core, &create, stored).ok()?.0);
        let make = || compiling(&info.name, shown, || create_in(core, &create, &[]));
        // SAFETY: the driver that the key names has made what is stored, of the code in the key.
        let pipeline = unsafe { core.cache.get_or_make(&key, load, make) }?;
        core.name(pipeline, &name.to_string_lossy());
        pipelines.insert((entry, threads), pipeline);
        Ok(pipeline)
    }
}

impl Target {
    /// Tells what kernels can use.
    pub(crate) fn tell(&self, caps: &mut Caps) {
        let has = &self.capabilities;
        (caps.f64, caps.atomics64) = (has.base.f64, has.base.atomics64);
        (caps.group_items, caps.local_memory) = (has.base.block.into(), has.base.local_memory);
        caps.subgroup = has.subgroup;
    }

    /// The same device, as if it could do no more than this.
    pub(crate) fn limit(&mut self, limit: Capabilities) {
        let (has, offered) = (&mut self.capabilities, &mut self.offered);
        offered.f64 &= limit.base.f64;
        offered.int8 &= limit.int8;
        offered.memory8 &= limit.int8;
        offered.int16 &= limit.int16;
        offered.memory16 &= limit.int16;
        offered.atomics64 &= limit.base.atomics64;
        has.base.f64 &= limit.base.f64;
        has.base.atomics64 &= limit.base.atomics64;
        has.base.local_memory = has.base.local_memory.min(limit.base.local_memory);
        has.base.block = has.base.block.min(limit.base.block).max(1);
        has.int8 &= limit.int8;
        has.int16 &= limit.int16;
        has.local_atomics64 &= limit.local_atomics64;
        if has.subgroup > limit.subgroup {
            has.subgroup = 1;
        }
        has.adds.f32 &= limit.adds.f32;
        has.adds.f64 &= limit.adds.f64 && has.base.f64;
        has.exact.f32 &= limit.exact.f32;
        has.exact.f64 &= limit.exact.f64;
        has.exact.doubles &= limit.exact.doubles && has.base.f64;
        has.exact.conversions &= limit.exact.conversions;
        has.exact.comparisons &= limit.exact.comparisons;
        // By the instruction that was measured: `fma` stays.
        has.exact.fused.f32 &= limit.exact.fused.f32;
        has.exact.fuses_normals &= limit.exact.fuses_normals;
        has.exact.fused.f64 &= limit.exact.fused.f64 && has.base.f64;
    }
}
