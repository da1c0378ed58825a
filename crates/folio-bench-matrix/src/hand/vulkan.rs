//! Vulkan, by its own calls: a command buffer for each submission, descriptor sets made once,
//! barriers only where a command uses what an earlier one of its lane has used.

use super::glsl::{self, Shader};
use super::{Arg, Call, End, LANES, Native, Place, Rows, failed, usual_group};
use crate::error::{Error, Result};
use ash::vk::{self, Handle};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most bytes of a GPU's last cache; Vulkan does not tell.
const CACHE: u64 = 64 << 20;
/// Descriptor sets of a pool.
const SETS: u32 = 4096;

/// A device of its own, which lives as long as the process.
pub struct Vulkan {
    device: ash::Device,
    is_cpu: bool,
    types: vk::PhysicalDeviceMemoryProperties,
    queues: Vec<Mutex<vk::Queue>>,
    lanes: [Mutex<Lane>; LANES],
    /// Commands that were recorded once, each with a pool of its own.
    kept: Mutex<Vec<Lane>>,
    family: u32,
    /// By buffer: its memory, and where that is mapped.
    blocks: Mutex<HashMap<u64, Block>>,
    /// Page-locked memory: address, size, and buffer.
    hosts: Mutex<Vec<(usize, usize, vk::Buffer)>>,
    texts: Mutex<Vec<(String, String)>>,
    bound: Mutex<HashMap<Vec<u64>, Bound>>,
    pipelines: Mutex<HashMap<(usize, [usize; 3]), Pipeline>>,
    pool: Mutex<vk::DescriptorPool>,
}

#[derive(Clone, Copy)]
struct Block {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    bytes: usize,
    /// Zero: it is not mapped.
    mapped: usize,
}

#[derive(Clone)]
struct Pipeline {
    handle: vk::Pipeline,
    layout: vk::PipelineLayout,
    sets: vk::DescriptorSetLayout,
}

/// A pipeline with its memory.
#[derive(Clone)]
struct Bound {
    pipeline: Pipeline,
    set: vk::DescriptorSet,
}

struct Lane {
    pool: vk::CommandPool,
    /// All that were made, of which so many are under way.
    made: Vec<vk::CommandBuffer>,
    under_way: usize,
    /// The commands that are being recorded, if there are any.
    commands: vk::CommandBuffer,
    is_recording: bool,
    /// How often they are submitted.
    usage: vk::CommandBufferUsageFlags,
    timeline: vk::Semaphore,
    value: u64,
    waits: Vec<(vk::Semaphore, u64)>,
    /// The buffers that commands since the last barrier have used.
    used: Vec<vk::Buffer>,
    /// The copies to the host's memory at the end: from where, to where, how.
    downs: Vec<(Block, usize, Rows, [usize; 2])>,
    staged: Vec<Block>,
    free: Vec<Block>,
}

fn told<T>(call: &'static str, result: std::result::Result<T, vk::Result>) -> Result<T> {
    result.map_err(|why| failed(call, why))
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Vulkan {
    /// The device of this name; of several, the `nth`.
    pub fn open(name: &str, nth: usize) -> Result<Vulkan> {
        // SAFETY: the loader is a library that may be loaded; it is never unloaded.
        let entry = unsafe { ash::Entry::load() }.map_err(|why| failed("the loader", why))?;
        let entry: &'static ash::Entry = Box::leak(Box::new(entry));
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        // SAFETY: a description without pointers of ours.
        let instance = told("vkCreateInstance", unsafe { entry.create_instance(&info, None) })?;
        // SAFETY: a live instance.
        let all = unsafe { instance.enumerate_physical_devices() };
        let same = |physical: &vk::PhysicalDevice| {
            // SAFETY: a live instance's device.
            let properties = unsafe { instance.get_physical_device_properties(*physical) };
            properties.device_name_as_c_str().is_ok_and(|own| own.to_string_lossy().trim() == name)
        };
        let all = told("vkEnumeratePhysicalDevices", all)?;
        let physical = all.into_iter().filter(same).nth(nth);
        let physical =
            physical.ok_or_else(|| failed("Vulkan's devices", format!("no '{name}'")))?;
        // SAFETY: a live instance's device.
        let (properties, types, families) = unsafe {
            (
                instance.get_physical_device_properties(physical),
                instance.get_physical_device_memory_properties(physical),
                instance.get_physical_device_queue_family_properties(physical),
            )
        };
        let computes = |family: &vk::QueueFamilyProperties| {
            family.queue_flags.contains(vk::QueueFlags::COMPUTE)
        };
        let family = families.iter().position(computes);
        let family = family.ok_or_else(|| failed("Vulkan's queues", "none computes"))?;
        let count = families[family].queue_count.min(LANES as u32);
        let priorities = [1.0; LANES];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family as u32)
            .queue_priorities(&priorities[..count as usize])];
        let mut timeline =
            vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
        let info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut timeline);
        // SAFETY: families and features that the device has: 1.2 has timelines.
        let device = unsafe { instance.create_device(physical, &info, None) };
        let device = told("vkCreateDevice", device)?;
        // SAFETY: queues that were asked for.
        let queues = (0..count)
            .map(|at| Mutex::new(unsafe { device.get_device_queue(family as u32, at) }))
            .collect();
        let make = |_| lane(&device, family as u32).map(Mutex::new);
        let lanes = (0..LANES).map(make).collect::<Result<Vec<_>>>()?;
        let lanes = lanes.try_into().map_err(|_| failed("lanes", "not all were made"))?;
        let pool = Mutex::new(pool(&device)?);
        let is_cpu = properties.device_type == vk::PhysicalDeviceType::CPU;
        Ok(Vulkan {
            device,
            is_cpu,
            types,
            queues,
            lanes,
            kept: Mutex::default(),
            family: family as u32,
            blocks: Mutex::default(),
            hosts: Mutex::default(),
            texts: Mutex::default(),
            bound: Mutex::default(),
            pipelines: Mutex::default(),
            pool,
        })
    }

    /// A buffer with memory of these properties, or else of fewer of them.
    fn block(&self, bytes: usize, wanted: &[vk::MemoryPropertyFlags]) -> Result<Block> {
        let device = &self.device;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(bytes.max(4) as u64).usage(usage);
        // SAFETY: a live device.
        let buffer = told("vkCreateBuffer", unsafe { device.create_buffer(&info, None) })?;
        // SAFETY: a live buffer.
        let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
        let types = &self.types.memory_types[..self.types.memory_type_count as usize];
        let found = wanted.iter().find_map(|wanted| {
            (types.iter().enumerate()).position(|(at, ty)| {
                needs.memory_type_bits >> at & 1 == 1 && ty.property_flags.contains(*wanted)
            })
        });
        let at = found.ok_or_else(|| failed("Vulkan's memory", "no type has what is needed"))?;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(at as u32);
        let visible = types[at].property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
        // SAFETY: a live device; memory of a type that the buffer takes, bound once, mapped once.
        unsafe {
            let memory = told("vkAllocateMemory", device.allocate_memory(&info, None))?;
            told("vkBindBufferMemory", device.bind_buffer_memory(buffer, memory, 0))?;
            let (all, none) = (vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
            let mapped = match visible {
                true => told("vkMapMemory", device.map_memory(memory, 0, all, none))?
                    .expose_provenance(),
                false => 0,
            };
            Ok(Block { buffer, memory, bytes, mapped })
        }
    }

    fn of_the_host(&self, bytes: usize) -> Result<Block> {
        let base = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        self.block(bytes, &[base | vk::MemoryPropertyFlags::HOST_CACHED, base])
    }

    fn pipeline(&self, kernel: usize, group: [usize; 3]) -> Result<Pipeline> {
        if let Some(known) = held(&self.pipelines).get(&(kernel, group)) {
            return Ok(known.clone());
        }
        let (text, name) = held(&self.texts)[kernel].clone();
        let Shader { words, is_memory } = glsl::compile(&text, &name, group)?;
        let count = is_memory.iter().filter(|memory| **memory).count() as u32;
        let bindings: Vec<_> = (0..count)
            .map(|at| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(at)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let bytes = 4 * (is_memory.len() as u32 - count);
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(bytes)];
        let ranges = if bytes == 0 { &ranges[..0] } else { &ranges[..] };
        let device = &self.device;
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: a live device; handles that were made just now.
        let (sets, layout, handle) = unsafe {
            let made = device.create_descriptor_set_layout(&info, None);
            let sets = [told("vkCreateDescriptorSetLayout", made)?];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&sets)
                .push_constant_ranges(ranges);
            let layout =
                told("vkCreatePipelineLayout", device.create_pipeline_layout(&info, None))?;
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = told("vkCreateShaderModule", device.create_shader_module(&info, None))?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
            let made = device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            let made = told("vkCreateComputePipelines", made.map_err(|(_, why)| why))?;
            device.destroy_shader_module(module, None);
            (sets[0], layout, made[0])
        };
        let made = Pipeline { handle, layout, sets };
        held(&self.pipelines).insert((kernel, group), made.clone());
        Ok(made)
    }

    /// The pipeline with a set of this memory, made at the first launch.
    fn bound(&self, call: &Call, group: [usize; 3]) -> Result<Bound> {
        let memory = call.args.iter().filter_map(|arg| match arg {
            Arg::Memory(memory) => Some(memory.place.at as u64),
            _ => None,
        });
        let shape = group.map(|n| n as u64);
        let key: Vec<u64> =
            [call.kernel as u64].into_iter().chain(shape).chain(memory.clone()).collect();
        if let Some(known) = held(&self.bound).get(&key) {
            return Ok(known.clone());
        }
        let pipeline = self.pipeline(call.kernel, group)?;
        let layouts = [pipeline.sets];
        let mut pool = held(&self.pool);
        let allocate = |pool: vk::DescriptorPool| {
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            // SAFETY: a live pool and layout, and the pool's lock is held.
            unsafe { self.device.allocate_descriptor_sets(&info) }
        };
        let set = match allocate(*pool) {
            Ok(sets) => sets[0],
            Err(_) => {
                *pool = self::pool(&self.device)?;
                told("vkAllocateDescriptorSets", allocate(*pool))?[0]
            }
        };
        let infos: Vec<_> = memory
            .map(|at| {
                [vk::DescriptorBufferInfo::default()
                    .buffer(vk::Buffer::from_raw(at))
                    .range(vk::WHOLE_SIZE)]
            })
            .collect();
        let writes: Vec<_> = (0u32..)
            .zip(&infos)
            .map(|(at, info)| {
                vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(at)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(info)
            })
            .collect();
        // SAFETY: a new set and live buffers.
        unsafe { self.device.update_descriptor_sets(&writes, &[]) };
        let bound = Bound { pipeline, set };
        held(&self.bound).insert(key, bound.clone());
        Ok(bound)
    }

    /// Begins a command buffer if need be, and comes after what has used these.
    fn begin(&self, lane: &mut Lane, uses: &[vk::Buffer]) -> Result<()> {
        let device = &self.device;
        if !lane.is_recording {
            if lane.under_way == lane.made.len() {
                let info = vk::CommandBufferAllocateInfo::default()
                    .command_pool(lane.pool)
                    .command_buffer_count(1);
                // SAFETY: the lane's own pool, whose lock is held.
                let made = unsafe { device.allocate_command_buffers(&info) };
                lane.made.push(told("vkAllocateCommandBuffers", made)?[0]);
            }
            lane.commands = lane.made[lane.under_way];
            lane.under_way += 1;
            let once = vk::CommandBufferBeginInfo::default().flags(lane.usage);
            // SAFETY: not in use since the lane was finished.
            let begun = unsafe { device.begin_command_buffer(lane.commands, &once) };
            told("vkBeginCommandBuffer", begun)?;
            lane.is_recording = true;
            // Submissions to a queue may overlap, too.
            barrier(device, lane.commands);
            lane.used.clear();
        }
        if uses.iter().any(|buffer| lane.used.contains(buffer)) {
            barrier(device, lane.commands);
            lane.used.clear();
        }
        lane.used.extend_from_slice(uses);
        Ok(())
    }

    fn submit(&self, at: usize, lane: &mut Lane) -> Result<()> {
        if !lane.is_recording {
            return Ok(());
        }
        // SAFETY: the lane's own commands, whose lock is held.
        let ended = unsafe { self.device.end_command_buffer(lane.commands) };
        told("vkEndCommandBuffer", ended)?;
        lane.is_recording = false;
        self.submit_commands(at, lane, lane.commands)
    }

    fn submit_commands(
        &self,
        at: usize,
        lane: &mut Lane,
        commands: vk::CommandBuffer,
    ) -> Result<()> {
        lane.value += 1;
        let (semaphores, values): (Vec<_>, Vec<_>) = lane.waits.drain(..).unzip();
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; semaphores.len()];
        let (signals, ends, commands) = ([lane.timeline], [lane.value], [commands]);
        let mut timelines = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&values)
            .signal_semaphore_values(&ends);
        let info = vk::SubmitInfo::default()
            .wait_semaphores(&semaphores)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&commands)
            .signal_semaphores(&signals)
            .push_next(&mut timelines);
        let queue = held(&self.queues[at % self.queues.len()]);
        // SAFETY: commands of which the recording has ended, and which are not in use. The queue's
        // lock is held.
        let done = unsafe { self.device.queue_submit(*queue, &[info], vk::Fence::null()) };
        told("vkQueueSubmit", done)
    }

    /// Records a launch.
    fn dispatch(&self, lane: &mut Lane, call: &Call) -> Result<()> {
        let group = call.group.unwrap_or(usual_group(call.dims));
        let Bound { pipeline, set } = self.bound(call, group)?;
        let (mut memory, mut scalars) = (Vec::new(), [0u8; 64]);
        let mut bytes = 0;
        for arg in &call.args {
            let word = match arg {
                Arg::U32(value) => *value,
                Arg::F32(value) => value.to_bits(),
                Arg::Memory(own) => {
                    memory.push(vk::Buffer::from_raw(own.place.at as u64));
                    continue;
                }
            };
            scalars[bytes..bytes + 4].copy_from_slice(&word.to_ne_bytes());
            bytes += 4;
        }
        self.begin(lane, &memory)?;
        let [x, y, z] = std::array::from_fn(|d| call.items[d].div_ceil(group[d]) as u32);
        let (device, commands, point) =
            (&self.device, lane.commands, vk::PipelineBindPoint::COMPUTE);
        let (layout, stages) = (pipeline.layout, vk::ShaderStageFlags::COMPUTE);
        // SAFETY: commands that are being recorded; live handles whose shapes agree.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline.handle);
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            if bytes > 0 {
                device.cmd_push_constants(commands, layout, stages, 0, &scalars[..bytes]);
            }
            device.cmd_dispatch(commands, x, y, z);
        }
        Ok(())
    }

    /// The buffer of page-locked memory, and where in it.
    fn locked(&self, at: *mut u8) -> Option<(vk::Buffer, usize)> {
        let at = at.expose_provenance();
        let hosts = held(&self.hosts);
        let own = hosts.iter().find(|(begin, len, _)| (*begin..begin + len).contains(&at))?;
        Some((own.2, at - own.0))
    }

    fn staging(&self, lane: &mut Lane, bytes: usize) -> Result<Block> {
        let block = match lane.free.iter().position(|block| block.bytes >= bytes) {
            Some(at) => lane.free.swap_remove(at),
            None => self.of_the_host(bytes)?,
        };
        lane.staged.push(block);
        Ok(block)
    }
}

fn lane(device: &ash::Device, family: u32) -> Result<Lane> {
    let info = vk::CommandPoolCreateInfo::default()
        .flags(vk::CommandPoolCreateFlags::TRANSIENT)
        .queue_family_index(family);
    let mut kind =
        vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let semaphore = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: a live device.
    let (pool, timeline) = unsafe {
        (
            told("vkCreateCommandPool", device.create_command_pool(&info, None))?,
            told("vkCreateSemaphore", device.create_semaphore(&semaphore, None))?,
        )
    };
    Ok(Lane {
        pool,
        made: Vec::new(),
        under_way: 0,
        commands: vk::CommandBuffer::null(),
        is_recording: false,
        usage: vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT,
        timeline,
        value: 0,
        waits: Vec::new(),
        used: Vec::new(),
        downs: Vec::new(),
        staged: Vec::new(),
        free: Vec::new(),
    })
}

fn pool(device: &ash::Device) -> Result<vk::DescriptorPool> {
    let sizes = [vk::DescriptorPoolSize::default()
        .ty(vk::DescriptorType::STORAGE_BUFFER)
        .descriptor_count(4 * SETS)];
    let info = vk::DescriptorPoolCreateInfo::default().max_sets(SETS).pool_sizes(&sizes);
    // SAFETY: a live device.
    told("vkCreateDescriptorPool", unsafe { device.create_descriptor_pool(&info, None) })
}

fn barrier(device: &ash::Device, commands: vk::CommandBuffer) {
    let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
    let all = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
    let none = vk::DependencyFlags::empty();
    // SAFETY: commands that are being recorded, under their lane's lock.
    unsafe { device.cmd_pipeline_barrier(commands, stages, stages, none, &all, &[], &[]) };
}

/// Copies rows on the host.
///
/// # Safety
/// Both have these rows.
unsafe fn rows(
    (to, there): (*mut u8, Rows),
    (from, here): (*const u8, Rows),
    [rows, bytes]: [usize; 2],
) {
    for row in 0..rows {
        let at = [there, here].map(|r| r.offset + row * r.pitch);
        // SAFETY: our caller's promise.
        unsafe { from.add(at[1]).copy_to_nonoverlapping(to.add(at[0]), bytes) };
    }
}

impl Native for Vulkan {
    fn api(&self) -> &'static str {
        "Vulkan"
    }

    // Also of a driver in software: kernels are written as for GPUs.
    fn is_cpu(&self) -> bool {
        false
    }

    fn cache_bytes(&self) -> u64 {
        if self.is_cpu { 0 } else { CACHE }
    }

    fn enter(&self) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, bytes: usize, _svm: bool) -> Result<Place> {
        let (local, visible) =
            (vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::HOST_VISIBLE);
        let wanted = if self.is_cpu { [local | visible, local] } else { [local, local] };
        let block = self.block(bytes, &wanted)?;
        held(&self.blocks).insert(block.buffer.as_raw(), block);
        Ok(Place { at: block.buffer.as_raw() as usize, is_svm: false })
    }

    fn free(&self, place: Place) {
        let at = place.at as u64;
        held(&self.bound).retain(|key, _| !key[4..].contains(&at));
        if let Some(block) = held(&self.blocks).remove(&at) {
            // SAFETY: its owner is being dropped, after the lanes have ended.
            unsafe {
                let _ = self.device.device_wait_idle();
                self.device.destroy_buffer(block.buffer, None);
                self.device.free_memory(block.memory, None);
            }
        }
    }

    fn host_memory(&self, bytes: usize) -> Result<*mut u8> {
        let block = self.of_the_host(bytes)?;
        held(&self.hosts).push((block.mapped, bytes, block.buffer));
        Ok(std::ptr::with_exposed_provenance_mut(block.mapped))
    }

    fn kernel(&self, text: &str, name: &str) -> Result<usize> {
        // An error of the text is told here; pipelines are made when groups are known.
        glsl::compile(text, name, [1; 3])?;
        let mut texts = held(&self.texts);
        let known = texts.iter().position(|own| own.0 == text && own.1 == name);
        Ok(known.unwrap_or_else(|| {
            texts.push((text.to_owned(), name.to_owned()));
            texts.len() - 1
        }))
    }

    fn launch(&self, at: usize, call: &Call) -> Result<()> {
        self.dispatch(&mut held(&self.lanes[at % LANES]), call)
    }

    fn keep(&self, calls: &[Call], again: Option<usize>) -> Result<usize> {
        let mut all = held(&self.kept);
        let at = again.unwrap_or(all.len());
        if at == all.len() {
            let usage = vk::CommandBufferUsageFlags::empty();
            all.push(Lane { usage, ..lane(&self.device, self.family)? });
        }
        let own = all.get_mut(at).ok_or_else(|| failed("recorded commands", at))?;
        let none = vk::CommandPoolResetFlags::empty();
        // SAFETY: the pool's commands have ended, or were never submitted.
        let reset = unsafe { self.device.reset_command_pool(own.pool, none) };
        told("vkResetCommandPool", reset)?;
        (own.under_way, own.is_recording) = (0, false);
        calls.iter().try_for_each(|call| self.dispatch(own, call))?;
        // SAFETY: the launches are recorded, under the lock.
        let ended = unsafe { self.device.end_command_buffer(own.commands) };
        told("vkEndCommandBuffer", ended)?;
        Ok(at)
    }

    fn replay(&self, at: usize, kept: usize) -> Result<()> {
        let commands = held(&self.kept).get(kept).map(|own| own.commands);
        let commands = commands.ok_or_else(|| failed("recorded commands", kept))?;
        let mut lane = held(&self.lanes[at % LANES]);
        self.submit(at, &mut lane)?;
        self.submit_commands(at, &mut lane, commands)
    }

    unsafe fn copy(
        &self,
        at: usize,
        (to, there): (End, Rows),
        (from, here): (End, Rows),
        extent: [usize; 2],
    ) -> Result<()> {
        let mut lane = held(&self.lanes[at % LANES]);
        let dense = Rows { offset: 0, pitch: extent[1] };
        let (from, here) = match from {
            End::Device(place) => (vk::Buffer::from_raw(place.at as u64), here),
            End::Host(from) => match self.locked(from) {
                Some((buffer, base)) => (buffer, Rows { offset: here.offset + base, ..here }),
                None => {
                    let block = self.staging(&mut lane, extent[0] * extent[1])?;
                    let to = std::ptr::with_exposed_provenance_mut(block.mapped);
                    // SAFETY: our caller's promise; the staging has as many bytes.
                    unsafe { rows((to, dense), (from, here), extent) };
                    (block.buffer, dense)
                }
            },
        };
        let (to, there) = match to {
            End::Device(place) => (vk::Buffer::from_raw(place.at as u64), there),
            End::Host(to) => match self.locked(to) {
                Some((buffer, base)) => (buffer, Rows { offset: there.offset + base, ..there }),
                None => {
                    let block = self.staging(&mut lane, extent[0] * extent[1])?;
                    lane.downs.push((block, to.expose_provenance(), there, extent));
                    (block.buffer, dense)
                }
            },
        };
        self.begin(&mut lane, &[from, to])?;
        let regions: Vec<_> = (0..extent[0])
            .map(|row| {
                vk::BufferCopy::default()
                    .src_offset((here.offset + row * here.pitch) as u64)
                    .dst_offset((there.offset + row * there.pitch) as u64)
                    .size(extent[1] as u64)
            })
            .collect();
        // SAFETY: commands that are being recorded; both buffers have these rows.
        unsafe { self.device.cmd_copy_buffer(lane.commands, from, to, &regions) };
        Ok(())
    }

    fn map(&self, place: Place, _: usize) -> Result<*mut u8> {
        self.finish(0)?;
        match held(&self.blocks).get(&(place.at as u64)) {
            Some(block) if block.mapped != 0 => {
                Ok(std::ptr::with_exposed_provenance_mut(block.mapped))
            }
            _ => Err(Error::NotHere("by hand: the host does not reach this memory".to_owned())),
        }
    }

    fn record(&self, at: usize) -> Result<usize> {
        let mut lane = held(&self.lanes[at % LANES]);
        self.submit(at, &mut lane)?;
        // The lane and its value.
        Ok(lane.value as usize * LANES + at % LANES)
    }

    fn wait(&self, at: usize, event: usize) -> Result<()> {
        let timeline = match event % LANES == at % LANES {
            true => return Ok(()),
            false => held(&self.lanes[event % LANES]).timeline,
        };
        let mut lane = held(&self.lanes[at % LANES]);
        self.submit(at, &mut lane)?;
        lane.waits.push((timeline, (event / LANES) as u64));
        Ok(())
    }

    fn forget(&self, _: usize) {}

    fn finish(&self, at: usize) -> Result<()> {
        let mut lane = held(&self.lanes[at % LANES]);
        self.submit(at, &mut lane)?;
        let (semaphores, values) = ([lane.timeline], [lane.value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: a live semaphore; afterwards none of the pool's commands is in use.
        unsafe {
            told("vkWaitSemaphores", self.device.wait_semaphores(&info, u64::MAX))?;
            let none = vk::CommandPoolResetFlags::empty();
            told("vkResetCommandPool", self.device.reset_command_pool(lane.pool, none))?;
        }
        lane.under_way = 0;
        for (block, to, there, extent) in std::mem::take(&mut lane.downs) {
            let dense = Rows { offset: 0, pitch: extent[1] };
            let from = std::ptr::with_exposed_provenance::<u8>(block.mapped);
            let to = std::ptr::with_exposed_provenance_mut(to);
            // SAFETY: the promise of who called `copy`: the host's rows stay until now.
            unsafe { rows((to, there), (from, dense), extent) };
        }
        let staged = std::mem::take(&mut lane.staged);
        lane.free.extend(staged);
        Ok(())
    }
}
