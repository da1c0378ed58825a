//! USM and raw commands, and what must be said so that these are ordered.

use super::{Maker, part};
use crate::order::Order;
use crate::program::{Action, BufferSpec, Config, Memory, QueueSpec, Ty, View, What};
use crate::rng::Rng;
use folio_core::geom::{Box3, Dims};
use folio_core::{UsmKind, buffer::Policy};

const KINDS: [UsmKind; 3] = [UsmKind::Device, UsmKind::Host, UsmKind::Shared];

/// Memory of a thread that is no ordinary buffer: USM, the host's own, buffers over either.
pub(super) fn memory(
    rng: &mut Rng,
    thread: usize,
    config: &Config,
    steady: bool,
) -> Vec<BufferSpec> {
    let (devices, queues) = (config.domains().len(), &config.queues);
    let kind = |rng: &mut Rng, device: usize| match config.machine(device) {
        Some(machine) if !machine.shares() => UsmKind::Device,
        _ => rng.pick(&KINDS),
    };
    let device = |rng: &mut Rng| match rng.chance(85) {
        true => queues[rng.below(queues.len())].devices[0],
        false => rng.below(devices),
    };
    let mut all = Vec::new();
    for _ in 0..rng.pick(&[0, 1, 1, 2]) {
        let device = device(rng);
        let memory = Memory::Usm(device, kind(rng, device));
        all.push(spec(rng, memory, false, thread));
    }
    if rng.chance(60) {
        all.push(spec(rng, Memory::Lent, true, thread));
    }
    for _ in 0..rng.pick(&[0, 0, 0, 1, 1, 2]) {
        all.push(spec(rng, Memory::Borrowed, true, thread));
    }
    if rng.chance(25) {
        let device = device(rng);
        let usm = rng.chance(70).then(|| (device, kind(rng, device)));
        // A fill of the memory could fail, and nothing would tell whose failure that is.
        let initialised = rng.chance(60) && !(steady && usm.is_some());
        all.push(spec(rng, Memory::Over(usm), initialised, thread));
    }
    all
}

fn spec(rng: &mut Rng, memory: Memory, initialised: bool, thread: usize) -> BufferSpec {
    let ty = rng.pick(&[Ty::U32, Ty::U32, Ty::U64]);
    let dims = [1, 1, 2 * rng.within(1, 12)];
    BufferSpec {
        memory,
        ty,
        rank: 1,
        dims,
        page: None,
        initialised,
        dense: false,
        thread,
        shared: false,
        policy: Policy::default(),
        evict: None,
    }
}

impl Maker {
    /// The memory that raw commands of a thread may use.
    fn raw_memory(&self, thread: usize) -> Vec<usize> {
        let raw = |b: &usize| {
            let spec = &self.buffers[*b];
            let kind = matches!(spec.memory, Memory::Usm(..) | Memory::Lent);
            kind && spec.thread == thread && !self.adopted.contains(b)
        };
        (0..self.buffers.len()).filter(raw).collect()
    }

    /// Some USM of a thread.
    pub(super) fn usm(&mut self, thread: usize) -> Option<usize> {
        let mut all = self.raw_memory(thread);
        all.retain(|b| self.buffers[*b].memory != Memory::Lent);
        (!all.is_empty()).then(|| self.rng.pick(&all))
    }

    /// A raw command, or what must be done before there can be one.
    pub(super) fn raw(&mut self, thread: usize) -> Option<Action> {
        let all = self.raw_memory(thread);
        if all.is_empty() {
            return None;
        }
        let at = self.rng.pick(&all);
        let ready: Vec<usize> = all.into_iter().filter(|b| self.orders[thread].ready(*b)).collect();
        let spec = &self.buffers[at];
        if !ready.contains(&at) {
            let (ty, dims) = (spec.ty, spec.dims);
            let view = View { buffer: at, ty, dims, part: Box3::whole(dims) };
            return Some(Action::Upload { to: view });
        }
        let ty = if self.rng.chance(60) { Ty::U32 } else { Ty::U64 };
        let to = self.raw_view(at, ty);
        let (other, ends) = (self.rng.pick(&ready), self.ends(thread, false));
        Some(match self.rng.below(100) {
            0..=49 => self.raw_copy(other, to),
            50..=60 => Action::RawFill { to },
            61..=64 => Action::RawHint { view: to },
            _ => {
                let (read, on_host) = (self.raw_view(other, ty), self.rng.chance(50));
                let apart = !crate::place::overlap(&read, &to);
                let read = (apart && self.rng.chance(70)).then_some(read);
                let action = Action::RawRun { on_host, read, write: to, ends };
                // By address, what is there can be used only there.
                if self.reaches(&action) { action } else { self.raw_copy(other, to) }
            }
        })
    }

    /// USM that is used by its address is the host's, too, or all of one device.
    fn reaches(&self, action: &Action) -> bool {
        let Action::RawRun { on_host, .. } = action else { return true };
        // A kernel that finds memory by its address is a closure.
        if !*on_host && self.config.runs_no_closures() {
            return false;
        }
        let homes = self.homes(action);
        let kinds = action.raw().into_iter().all(|(v, _)| match self.buffers[v.buffer].memory {
            Memory::Usm(_, kind) => kind != UsmKind::Device,
            _ => true,
        });
        match homes.as_slice() {
            _ if *on_host => kinds,
            [] => true,
            [home] => self.queues_in(*home).next().is_some(),
            _ => false,
        }
    }

    fn raw_copy(&mut self, from: usize, mut to: View) -> Action {
        let mut from = self.raw_view(from, to.ty);
        let (a, b) = (from.part.extent(), to.part.extent());
        for view in [&mut from, &mut to] {
            for d in 0..3 {
                view.part.max[d] = view.part.min[d] + a[d].min(b[d]);
            }
        }
        if crate::place::overlap(&from, &to) {
            return Action::RawFill { to };
        }
        Action::RawCopy { from, to }
    }

    fn raw_view(&mut self, buffer: usize, ty: Ty) -> View {
        let spec = &self.buffers[buffer];
        let volume = spec.dims[2] * spec.ty.size() / ty.size();
        let dims = shape(&mut self.rng, volume);
        View { buffer, ty, dims, part: part(&mut self.rng, dims, None) }
    }

    /// The domains of the USM that an action uses in place.
    fn homes(&self, action: &Action) -> Vec<usize> {
        let domains = self.config.domains();
        let home = |b: usize| match self.buffers[b].memory {
            Memory::Usm(device, _) if !self.adopted.contains(&b) => Some(domains[device]),
            Memory::Lent if matches!(action, Action::RawFill { .. } | Action::RawHint { .. }) => {
                Some(0)
            }
            _ => None,
        };
        let mut homes: Vec<usize> = action.buffers().into_iter().filter_map(home).collect();
        homes.sort_unstable();
        homes.dedup();
        homes
    }

    /// The queues of one device whose memory is `domain`.
    fn queues_in(&self, domain: usize) -> impl Iterator<Item = usize> {
        let domains = self.config.domains();
        let queues = self.config.queues.iter().enumerate();
        let fits = move |(_, q): &(usize, &QueueSpec)| {
            q.devices.len() == 1 && domains[q.devices[0]] == domain
        };
        queues.filter(fits).map(|(at, _)| at)
    }

    /// A queue for an action: mostly one whose device has what it uses.
    pub(super) fn queue_for(&mut self, thread: usize, action: &Action) -> usize {
        let homes = self.homes(action);
        let anywhere =
            matches!(action, Action::Copy { .. } | Action::Upload { .. } | Action::RawCopy { .. });
        let must = matches!(action, Action::RawRun { on_host: false, .. });
        if let (Some(home), false) = (homes.first(), anywhere || action.on_host())
            && (must || self.rng.chance(93))
        {
            let fitting: Vec<usize> = self.queues_in(*home).collect();
            if !fitting.is_empty() {
                return self.rng.pick(&fitting);
            }
        }
        self.queue(thread)
    }

    /// Says what an action must come after: by events of the commands themselves, by events of
    /// others that came after them, or by waiting. False if there is no way.
    pub(super) fn order(
        &mut self,
        thread: usize,
        queue: usize,
        action: &Action,
        after: &mut Vec<u32>,
    ) -> bool {
        loop {
            let Some(missing) = self.orders[thread].missing(action, queue, after) else {
                return false;
            };
            let Some(last) = missing.into_iter().max() else { return true };
            let ways = self.orders[thread].ways_after(last);
            match self.rng.below(10) {
                0 => self.push(thread, What::WaitEvent { step: last }),
                1..=4 if !ways.is_empty() => after.push(self.rng.pick(&ways)),
                _ => after.push(last),
            }
        }
    }

    /// Waits for these steps, latest first: most of the others are over then.
    pub(super) fn wait_for(&mut self, thread: usize, needs: impl Fn(&Order) -> Vec<u32>) {
        while let Some(last) = needs(&self.orders[thread]).into_iter().max() {
            self.push(thread, What::WaitEvent { step: last });
        }
    }
}

impl Maker {
    /// Begins or ends a scope, now and then.
    pub(super) fn scope(&mut self, thread: usize) -> Option<What> {
        if let Some(buffer) = self.entered[thread].last().copied()
            && self.rng.chance(12)
        {
            return Some(What::Leave { buffer });
        }
        let fresh = |b: &usize| {
            let spec = &self.buffers[*b];
            let new = !self.entered[thread].contains(b) && !self.left.contains(b);
            spec.memory == Memory::Borrowed && spec.thread == thread && new
        };
        let fresh: Vec<usize> = (0..self.buffers.len()).filter(fresh).collect();
        if fresh.is_empty() || !self.rng.chance(15) {
            return None;
        }
        Some(What::Enter { buffer: self.rng.pick(&fresh) })
    }

    /// Enters or leaves the scope of a step.
    pub(super) fn scoped(&mut self, thread: usize, what: &What) {
        match what {
            What::Enter { buffer } => self.entered[thread].push(*buffer),
            What::Leave { buffer } => {
                self.entered[thread].pop();
                self.left.push(*buffer);
                if self.rng.chance(20) {
                    self.stale.push(*buffer);
                }
            }
            _ => {}
        }
    }
}

/// The pages of a shared buffer that are a thread's.
pub(super) fn band(spec: &BufferSpec, thread: usize, threads: usize) -> Box3 {
    let mut band = Box3::whole(spec.dims);
    let d = 3 - spec.rank;
    let size = spec.dims[d] / threads;
    (band.min[d], band.max[d]) = (size * thread, size * (thread + 1));
    band
}

/// A buffer of which each thread has some pages.
pub(super) fn shared(rng: &mut Rng, threads: usize) -> BufferSpec {
    let rank = rng.within(1, 2);
    let (pages, size) = (rng.within(1, 3), rng.within(1, 3));
    let (mut dims, mut page) = ([1, 1, 6], [1, 1, rng.within(1, 6)]);
    (dims[3 - rank], page[3 - rank]) = (threads * pages * size * 2, size * 2);
    let (initialised, dense) = (rng.chance(50), rng.chance(20));
    let memory = Memory::Own;
    let (ty, page) = (rng.pick(&[Ty::U32, Ty::U64]), Some(page));
    let (thread, shared, policy, evict) = (0, true, Policy::default(), None);
    BufferSpec { memory, ty, rank, dims, page, initialised, dense, thread, shared, policy, evict }
}

/// Makes the memory of a device short.
pub(super) fn budget(
    rng: &mut Rng,
    config: &Config,
    buffers: &[BufferSpec],
) -> Option<(usize, u64)> {
    let domains = config.domains();
    let devices: Vec<usize> = (0..domains.len()).filter(|d| domains[*d] != 0).collect();
    if devices.is_empty() {
        return None;
    }
    let bytes = |b: &BufferSpec| b.dims.iter().product::<usize>() * b.ty.size();
    let all = buffers.iter().map(bytes).sum::<usize>();
    Some((rng.pick(&devices), rng.within(all / 4, all) as u64))
}

/// Some shape of so many elements, of up to three dimensions.
fn shape(rng: &mut Rng, volume: usize) -> Dims {
    let mut dims = [1, 1, volume];
    for d in 0..2 {
        let sizes: Vec<usize> =
            (1..=dims[2].min(4)).filter(|n| dims[2].is_multiple_of(*n)).collect();
        if rng.chance(60) && !sizes.is_empty() {
            dims[d] = rng.pick(&sizes);
            dims[2] /= dims[d];
        }
    }
    dims
}

/// All memory of a program: ordinary buffers, and now and then USM.
pub(super) fn all(
    rng: &mut Rng,
    config: &Config,
    ordinary: Vec<BufferSpec>,
    (threads, usm, steady): (usize, usize, bool),
) -> Vec<BufferSpec> {
    let mut all = ordinary;
    if threads > 1 && rng.chance(60) {
        all.push(shared(rng, threads));
    }
    for thread in 0..threads {
        if rng.chance(usm) {
            all.extend(memory(rng, thread, config, steady));
        }
    }
    all
}
