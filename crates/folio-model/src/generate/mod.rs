//! Random programs from seeds.

mod kernel;
mod policy;
mod usm;

use crate::machine::Machine;
use crate::order::Order;
use crate::place;
use crate::program::{
    Access, Action, BufferSpec, Choice, Config, Ends, Groups, Memory, Mode, Program, QueueSpec,
    Sim, Skip, Step, Ty, View, What,
};
use crate::rng::Rng;
use folio_core::buffer::Policy;
use folio_core::geom::{Box3, Dims};

/// Which runtimes programs are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Simulated devices.
    Sim,
    /// A CPU with one or more domains.
    Cpu,
    /// Both in one runtime.
    Mixed,
    /// Backends of this machine, alone or beside a CPU.
    Machines {
        /// Which.
        machines: &'static [Machine],
        /// There is a CPU, too.
        cpu: bool,
    },
}

/// The steps, memories and devices that programs may have.
#[derive(Clone, Copy, Debug)]
pub struct Menu {
    /// For which runtimes.
    pub target: Target,
    /// In how many of 100 programs commands fail.
    pub failures: usize,
    /// In how many of 100 programs there is a second thread.
    pub threads: usize,
    /// In how many of 100 programs a thread has memory that is no ordinary buffer.
    pub usm: usize,
    /// Only what ends the same way at every run: no threads, no notifications.
    pub steady: bool,
    /// In how many of 100 programs kernels are functions, though all devices run closures; in half
    /// as many simulated devices run none.
    pub functions: usize,
}

impl Menu {
    /// The usual mix.
    pub fn of(target: Target) -> Menu {
        Menu { target, failures: 20, threads: 15, usm: 45, steady: false, functions: 20 }
    }
}

/// The program of a seed.
pub fn program(seed: u64, menu: Menu) -> Program {
    let mut rng = Rng::new(seed);
    let mut config = config(&mut rng, menu);
    let threads = if !menu.steady && rng.chance(menu.threads) { 2 } else { 1 };
    let buffers = buffers(&mut rng, threads);
    config.queues = queues(&mut rng, &config, threads);
    let buffers = usm::all(&mut rng, &config, buffers, (threads, menu.usm, menu.steady));
    if threads == 1 && rng.chance(15) {
        config.budget = usm::budget(&mut rng, &config, &buffers);
    }
    let mut buffers = buffers;
    policy::assign(&mut Rng::new(seed ^ policy::SEED), &config, &mut buffers);
    let fails = rng.chance(menu.failures);
    // Memory below a buffer over USM would keep the runtime.
    let over = buffers.iter().any(|b| matches!(b.memory, Memory::Over(Some(_))));
    config.abrupt = !fails && !over && rng.chance(8);
    let count = if rng.chance(10) { rng.within(30, 60) } else { rng.within(4, 24) };
    let orders = vec![Order::of(&buffers, &config.queues); threads];
    let mut made = Maker {
        rng,
        config,
        buffers,
        threads,
        fails,
        orders,
        adopted: Vec::new(),
        entered: vec![Vec::new(); threads],
        left: Vec::new(),
        stale: Vec::new(),
        steps: Vec::new(),
    };
    while made.steps.len() < count {
        made.step();
    }
    for thread in 0..threads {
        while let Some(buffer) = made.entered[thread].last().copied() {
            made.push(thread, What::Leave { buffer });
        }
    }
    let Maker { mut rng, mut config, buffers, mut steps, .. } = made;
    if buffers.iter().any(|buffer| buffer.evict.is_some()) {
        // A command that needs memory waits for commands that use what goes.
        steps.retain(|step| !matches!(step.what, What::Freeze { .. }));
    }
    let given = |what: &What| matches!(what, What::Release { .. } | What::Assume { .. });
    let named = steps.iter().any(|step| given(&step.what));
    // A guard maps all of linked memory, and not only its pages.
    let held = threads > 1 || steps.iter().any(|step| matches!(step.what, What::Hold { .. }));
    config.links = config.budget.is_none() && !named && !held && rng.chance(50);
    Program { seed, config, buffers, steps }
}

fn config(rng: &mut Rng, menu: Menu) -> Config {
    let (cpu, sim) = match menu.target {
        Target::Cpu => (Some(rng.pick(&[1, 2, 2, 3, 4])), None),
        Target::Sim => (None, Some(sim(rng, menu))),
        Target::Mixed => (Some(rng.within(1, 2)), Some(sim(rng, menu))),
        Target::Machines { cpu, .. } => (cpu.then(|| rng.within(1, 2)), None),
    };
    let machines = match menu.target {
        Target::Machines { machines, .. } => machines,
        _ => &[],
    };
    let validate = rng.chance(40);
    let functions = rng.chance(menu.functions);
    let (budget, abrupt, links, queues) = (None, false, false, Vec::new());
    let made = Config { cpu, sim, machines, functions, validate, budget, abrupt, links, queues };
    Config { functions: functions || made.runs_no_closures(), ..made }
}

fn sim(rng: &mut Rng, menu: Menu) -> Sim {
    let lates = [0, 1, 1, 2, 5, 20];
    Sim {
        devices: rng.pick(&[1, 2, 2, 3, 3]),
        first_on_host: rng.chance(10),
        groups: rng.pick(&[Groups::One, Groups::One, Groups::Each, Groups::None]),
        copy_lanes: rng.chance(75),
        peers: rng.chance(50),
        late: [rng.pick(&lates), rng.pick(&lates)],
        jitter: rng.pick(&[0, 0, 1, 4]),
        overlap: rng.chance(30),
        visible_every: rng.pick(&[1, 1, 1, 2, 5]),
        batch: rng.pick(&[1, 1, 1, 3]),
        max_in_flight: rng.pick(&[4096, 4096, 4096, 8, 2]),
        courier: !menu.steady && rng.chance(15),
        notifies: !menu.steady && rng.chance(15),
        ir: rng.chance(menu.functions / 2),
        lags: rng.pick(&[[0; 3], [0; 3], [0, 0, 9], [9, 0, 0], [3, 40, 0]]),
        seed: rng.next(),
    }
}

fn queues(rng: &mut Rng, config: &Config, threads: usize) -> Vec<QueueSpec> {
    let devices = config.domains().len();
    let count = rng.within(1, 3).max(threads);
    let queue = |rng: &mut Rng| {
        let over = rng.chance(20);
        QueueSpec {
            devices: if over { (0..devices).collect() } else { vec![rng.below(devices)] },
            in_order: !over && rng.chance(25),
            choice: rng.pick(&[Choice::Locality, Choice::RoundRobin]),
        }
    };
    (0..count).map(|_| queue(rng)).collect()
}

fn buffers(rng: &mut Rng, threads: usize) -> Vec<BufferSpec> {
    let one_type = rng.chance(70);
    let count = rng.within(1, 3).max(threads);
    (0..count).map(|at| buffer(rng, at % threads, one_type)).collect()
}

fn buffer(rng: &mut Rng, thread: usize, one_type: bool) -> BufferSpec {
    let ty = if one_type || rng.chance(50) { Ty::U32 } else { Ty::U64 };
    let rank = rng.pick(&[1, 1, 1, 2, 2, 3]);
    let most = [3, 6, [24, 9, 5][rank - 1]];
    let mut dims = [1; 3];
    for d in 3 - rank..3 {
        dims[d] = rng.within(1, most[d]);
    }
    if rng.chance(3) {
        dims[2] = 0;
    }
    // A whole number of the largest elements, so that every buffer can be seen as either type.
    dims[2] += dims[2] % 2;
    let page = rng.chance(85).then(|| {
        let mut page = [1; 3];
        for d in 3 - rank..3 {
            page[d] = rng.within(1, dims[d].max(1));
            if rng.chance(50) {
                page[d] = page[d].min(rng.within(1, 4));
            }
        }
        page
    });
    let (initialised, dense) = (rng.chance(60), rng.chance(20));
    BufferSpec {
        memory: Memory::Own,
        ty,
        rank,
        dims,
        page,
        initialised,
        dense,
        thread,
        shared: false,
        policy: Policy::default(),
        evict: None,
    }
}

struct Maker {
    rng: Rng,
    config: Config,
    buffers: Vec<BufferSpec>,
    threads: usize,
    fails: bool,
    /// Of each thread.
    orders: Vec<Order>,
    /// USM that is a buffer by now.
    adopted: Vec<usize>,
    /// The buffers of each thread's scopes, innermost last.
    entered: Vec<Vec<usize>>,
    /// The buffers of scopes that are over, and those that are used all the same.
    left: Vec<usize>,
    stale: Vec<usize>,
    steps: Vec<Step>,
}

impl Maker {
    fn push(&mut self, thread: usize, what: What) {
        let step = Step { id: self.steps.len() as u32, thread, what };
        if let What::Adopt { buffer } = step.what {
            self.adopted.push(buffer);
        }
        self.scoped(thread, &step.what);
        self.orders[thread].done_well(&step);
        self.steps.push(step);
    }

    /// A part for the host, for which whoever uses it unseen is waited for.
    fn host_view(&mut self, thread: usize, writes: bool) -> View {
        let view = self.view(thread, None);
        self.wait_for(thread, |order| order.host_needs(&view, writes));
        view
    }

    fn step(&mut self) {
        let thread = self.rng.below(self.threads);
        let what = match self.scope(thread) {
            Some(what) => what,
            None => self.what(thread),
        };
        self.push(thread, what);
        if self.rng.chance(2) {
            self.burst(thread);
        }
    }

    /// Something for the host to do with a part; views of slices are only read.
    fn host(&mut self, thread: usize, make: impl FnOnce(View) -> What) -> What {
        let view = self.host_view(thread, true);
        match self.buffers[view.buffer].memory {
            Memory::Borrowed => What::Read { view },
            _ => make(view),
        }
    }

    fn what(&mut self, thread: usize) -> What {
        match self.rng.below(100) {
            0..=68 => self.submit(thread),
            69..=78 => What::Read { view: self.host_view(thread, false) },
            79..=83 => {
                let (overwrite, skip) = (self.rng.chance(50), self.skip());
                self.host(thread, |view| What::Write { view, overwrite, skip })
            }
            84..=85 if self.threads == 1 => {
                let writes = self.rng.chance(30);
                self.host(thread, |view| What::Hold { view, writes })
            }
            86..=87 if self.threads == 1 => What::Unhold,
            88 => self.adopt(thread),
            89 => {
                let usm = if self.rng.chance(50) { self.usm(thread) } else { None };
                let buffer = usm.unwrap_or_else(|| self.view(thread, None).buffer);
                let spec = &self.buffers[buffer];
                if spec.shared || spec.memory == Memory::Borrowed {
                    return What::WaitQueue { queue: self.queue(thread) };
                }
                self.wait_for(thread, |order| order.handle_needs(buffer, false));
                What::Drop { buffer }
            }
            90..=91 => What::WaitQueue { queue: self.queue(thread) },
            92..=93 => What::WaitEvent { step: self.earlier(thread) },
            94..=95 => What::Barrier { queue: self.queue(thread) },
            98 if self.threads == 1 => self.release(thread),
            99 if self.threads == 1 => self.assume(thread),
            96..=97 if self.threads == 1 => {
                What::Freeze { device: self.rng.below(3), copies: self.rng.chance(70) }
            }
            _ => self.submit(thread),
        }
    }

    /// Many discards of parts of one page, from different devices.
    fn burst(&mut self, thread: usize) {
        let Some(buffer) = self.own(thread, None) else { return };
        let spec = self.buffers[buffer].clone();
        let volume = spec.dims.iter().product::<usize>();
        if volume < 4 || spec.shared || spec.memory != Memory::Own {
            return;
        }
        for _ in 0..20 {
            let at = self.rng.below(volume);
            let [_, rows, columns] = spec.dims;
            let cell = [at / (rows * columns), at / columns % rows, at % columns];
            let part = Box3::cell(cell);
            let view = View { buffer, ty: spec.ty, dims: spec.dims, part };
            let access = Access { view, mode: Mode::Discard };
            let (rank, accesses) = (spec.rank, vec![access]);
            let action =
                Action::Kernel { rank, range: [1; 3], accesses, skip: None, ends: Ends::Well };
            let what = What::Submit { queue: self.queue(thread), action, after: Vec::new() };
            self.push(thread, what);
        }
    }

    fn adopt(&mut self, thread: usize) -> What {
        let Some(buffer) = self.usm(thread) else { return self.submit(thread) };
        self.wait_for(thread, |order| order.handle_needs(buffer, true));
        What::Adopt { buffer }
    }

    /// An ordinary buffer that nobody borrows.
    fn movable(&mut self, thread: usize) -> Option<usize> {
        let buffer = self.own(thread, None)?;
        let ordinary = match self.buffers[buffer].memory {
            Memory::Own => true,
            // The memory below is not the buffer's to release.
            Memory::Over(_) => self.config.budget.is_none(),
            Memory::Usm(..) => self.adopted.contains(&buffer),
            Memory::Lent | Memory::Borrowed => false,
        };
        ordinary.then_some(buffer)
    }

    fn release(&mut self, thread: usize) -> What {
        let Some(buffer) = self.movable(thread) else { return self.submit(thread) };
        What::Release { buffer, device: self.rng.below(self.config.domains().len()) }
    }

    /// A part of a buffer as it was made.
    fn assume(&mut self, thread: usize) -> What {
        // Its memory may be made for this.
        let free = self.config.budget.is_none();
        let Some(buffer) = self.movable(thread).filter(|_| free) else {
            return self.submit(thread);
        };
        let BufferSpec { ty, dims, .. } = self.buffers[buffer];
        let part = self.part(thread, buffer, dims, None);
        let view = View { buffer, ty, dims, part };
        let device = self.rng.below(self.config.domains().len());
        // The host does not reach the memory of others.
        if self.config.machine(device).is_some() {
            return self.submit(thread);
        }
        What::Assume { view, device }
    }

    fn advise(&mut self, thread: usize) -> Action {
        let Some(buffer) = self.usm(thread) else {
            return Action::Prefetch { view: self.view(thread, None) };
        };
        let BufferSpec { ty, dims, .. } = self.buffers[buffer];
        Action::Advise {
            view: View { buffer, ty, dims, part: self.part(thread, buffer, dims, None) },
        }
    }

    fn submit(&mut self, thread: usize) -> What {
        let raw = if self.rng.chance(45) { self.raw(thread) } else { None };
        let action = raw.unwrap_or_else(|| self.tracked(thread));
        let mut after = if self.rng.chance(12) { vec![self.earlier(thread)] } else { Vec::new() };
        let queue = self.queue_for(thread, &action);
        if self.order(thread, queue, &action, &mut after) {
            return What::Submit { queue, action, after };
        }
        What::WaitQueue { queue }
    }

    fn tracked(&mut self, thread: usize) -> Action {
        match self.rng.below(100) {
            0..=54 => self.kernel(thread),
            55..=66 => self.task(thread),
            67..=78 => self.copy(thread),
            79..=84 => Action::Upload { to: self.view(thread, None) },
            85..=91 => Action::Fill { to: self.view(thread, None) },
            92..=95 => Action::Prefetch { view: self.view(thread, None) },
            96 => self.advise(thread),
            _ => Action::UpdateHost { view: self.view(thread, None) },
        }
    }

    fn queue(&mut self, thread: usize) -> usize {
        // Threads share queues now and then.
        if self.rng.chance(60) { thread } else { self.rng.below(self.config.queues.len()) }
    }

    fn earlier(&mut self, thread: usize) -> u32 {
        let own: Vec<u32> =
            self.steps.iter().filter(|s| s.thread == thread).map(|s| s.id).collect();
        if own.is_empty() { u32::MAX } else { self.rng.pick(&own) }
    }

    fn skip(&mut self) -> Skip {
        self.rng.chance(12).then(|| {
            let every = self.rng.within(2, 4);
            (every, self.rng.below(every))
        })
    }

    fn ends(&mut self, thread: usize, task: bool) -> Ends {
        // A failure in a scope should be in what was borrowed now and then.
        let often = if self.entered[thread].is_empty() { 12 } else { 30 };
        match self.fails && self.rng.chance(often) {
            true if task && self.rng.chance(50) => Ends::Fails,
            true => Ends::Panics,
            false => Ends::Well,
        }
    }

    /// Something of a thread for accesses as elements of `ty`.
    fn own(&mut self, thread: usize, ty: Option<Ty>) -> Option<usize> {
        let fits = |b: &usize| {
            let spec = &self.buffers[*b];
            let typed = match spec.memory {
                Memory::Lent => false,
                Memory::Usm(..) => ty.is_none_or(|ty| ty == spec.ty) || self.adopted.contains(b),
                Memory::Own | Memory::Over(_) => !spec.shared || ty.is_none_or(|ty| ty == spec.ty),
                Memory::Borrowed => self.entered[thread].contains(b) || self.stale.contains(b),
            };
            (spec.thread == thread || spec.shared) && typed
        };
        let own: Vec<usize> = (0..self.buffers.len()).filter(fits).collect();
        (!own.is_empty()).then(|| self.rng.pick(&own))
    }

    /// A part of some buffer of the thread, as elements of `ty`.
    fn view(&mut self, thread: usize, ty: Option<Ty>) -> View {
        let buffer = self.own(thread, ty).unwrap_or(0);
        let spec = &self.buffers[buffer];
        let (own, page) = (spec.dims, place::grid(spec).page);
        let bytes = own.iter().product::<usize>() * spec.ty.size();
        let usm = matches!(spec.memory, Memory::Usm(..)) && !self.adopted.contains(&buffer);
        let fixed = usm || spec.shared;
        let ty = ty.unwrap_or(if fixed || self.rng.chance(90) { spec.ty } else { Ty::U64 });
        let reshaped = !spec.shared && (ty != spec.ty || self.rng.chance(8));
        let dims = if reshaped { shape(&mut self.rng, bytes / ty.size()) } else { own };
        let pages = (!reshaped && self.rng.chance(30)).then_some(page);
        View { buffer, ty, dims, part: self.part(thread, buffer, dims, pages) }
    }

    /// Some part of a buffer in some shape, of the thread's pages if it is shared.
    fn part(&mut self, thread: usize, buffer: usize, dims: Dims, pages: Option<Dims>) -> Box3 {
        let spec = &self.buffers[buffer];
        if !spec.shared {
            return part(&mut self.rng, dims, pages);
        }
        let band = usm::band(spec, thread, self.threads);
        let inside = part(&mut self.rng, band.extent(), pages);
        let moved = |at: Dims| std::array::from_fn(|d| at[d] + band.min[d]);
        Box3 { min: moved(inside.min), max: moved(inside.max) }
    }

    fn task(&mut self, thread: usize) -> Action {
        let read = self.rng.chance(60).then(|| self.view(thread, None));
        let mode = self.rng.pick(&[Mode::Write, Mode::Write, Mode::Discard]);
        let write = self.rng.chance(75).then(|| Access { view: self.view(thread, None), mode });
        let clash = read.zip(write).is_some_and(|(r, w)| place::overlap(&r, &w.view));
        let read = read.filter(|_| !clash || self.rng.chance(5));
        Action::Task { read, write, skip: self.skip(), ends: self.ends(thread, true) }
    }

    fn copy(&mut self, thread: usize) -> Action {
        let mut from = self.view(thread, None);
        let mut to = self.view(thread, Some(from.ty));
        let (a, b) = (from.part.extent(), to.part.extent());
        for view in [&mut from, &mut to] {
            for d in 0..3 {
                view.part.max[d] = view.part.min[d] + a[d].min(b[d]);
            }
        }
        // A handle of USM cannot be borrowed twice.
        let twice =
            from.buffer == to.buffer && matches!(self.buffers[to.buffer].memory, Memory::Usm(..));
        if twice || (place::overlap(&from, &to) && !self.rng.chance(10)) {
            return Action::Fill { to };
        }
        Action::Copy { from, to }
    }
}

/// Some shape of so many elements.
fn shape(rng: &mut Rng, volume: usize) -> Dims {
    let rows: Vec<usize> = (1..=volume.min(8)).filter(|r| volume.is_multiple_of(*r)).collect();
    match rng.chance(50) || rows.is_empty() {
        true => [1, 1, volume],
        false => {
            let rows = rng.pick(&rows);
            [1, rows, volume / rows]
        }
    }
}

/// Some part of a shape; a box of whole pages where there are some.
fn part(rng: &mut Rng, dims: Dims, page: Option<Dims>) -> Box3 {
    if rng.chance(30) {
        return Box3::whole(dims);
    }
    let mut part = Box3::EMPTY;
    for d in 0..3 {
        if dims[d] == 1 {
            // Dimensions that the rank does not have stay whole.
            part.max[d] = 1;
            continue;
        }
        let (low, high) = (rng.below(dims[d] + 1), rng.below(dims[d] + 1));
        (part.min[d], part.max[d]) = (low.min(high), low.max(high));
        if part.min[d] == part.max[d] && !rng.chance(5) {
            part.max[d] = (part.max[d] + 1).min(dims[d]);
            part.min[d] = part.max[d].saturating_sub(1);
        }
        if let Some(page) = page {
            part.min[d] = part.min[d] / page[d] * page[d];
            part.max[d] = (part.max[d].div_ceil(page[d]) * page[d]).min(dims[d]);
        }
    }
    part
}
