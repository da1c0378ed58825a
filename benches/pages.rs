//! The cost of tracking pages.

use crate::submit::runtime;
use folio_core::geom::Box3;
use folio_core::hal::Link;
use folio_core::pages::{
    BlockTrackers, DomainId, DomainSet, Need, PageTracker, PageTrackerFactory, Planner, Transfer,
};
use folio_core::{BufferOptions, Result};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A page of `pages` for the `i`-th access: all over the buffer, in no order.
pub fn scatter(i: usize, pages: usize) -> usize {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % pages
}

/// `n` commands that each update one page, all over a buffer of `pages` pages.
pub fn one_page(n: usize, pages: usize) -> Result<Duration> {
    let rt = runtime()?;
    let q = rt.queue_on("cpu:0")?;
    let mut x = rt.buffer_with::<u32, 1>([pages], BufferOptions::new().page([1]))?;
    let mut step = |i: usize| {
        q.submit(|cg| {
            let x = cg.read_write(x.slice_mut([scatter(i, pages)], [1])?);
            cg.host_kernel([1], x, |i, mut x| x[i] += 1);
            Ok(())
        })
        .map(drop)
    };
    for i in 0..n {
        step(i)?;
    }
    q.wait()?;
    let started = Instant::now();
    for i in 0..n {
        step(i)?;
    }
    q.wait()?;
    Ok(started.elapsed())
}

const HERE: DomainSet = DomainSet::of(DomainId::HOST);
const THERE: DomainSet = DomainSet::of(DomainId(1));

/// A way in which pages differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// All alike.
    Uniform,
    /// Every second row.
    Stripes,
    /// Every second page.
    Checkerboard,
}

impl Pattern {
    fn is_there(self, [_, row, column]: [usize; 3]) -> bool {
        match self {
            Pattern::Uniform => false,
            Pattern::Stripes => row % 2 == 1,
            Pattern::Checkerboard => (row + column) % 2 == 1,
        }
    }
}

/// A grid of pages in a pattern.
pub struct Pages {
    side: usize,
    tracker: Box<dyn PageTracker>,
    /// The same, as one would write it by hand.
    plain: Vec<DomainSet>,
    planner: Planner,
    plan: Vec<Transfer>,
}

impl Pages {
    /// A square of pages.
    pub fn new(side: usize, pattern: Pattern) -> Pages {
        let all = Box3::whole([1, side, side]);
        let mut tracker = BlockTrackers.make([1, side, side]);
        tracker.set(&all, HERE);
        let mut plain = vec![HERE; side * side];
        for (at, page) in all.cells().enumerate() {
            if pattern.is_there(page) {
                tracker.set(&Box3::cell(page), THERE);
                plain[at] = THERE;
            }
        }
        Pages { side, tracker, plain, planner: Planner::new(), plan: Vec::new() }
    }

    /// Looks at and changes `n` single pages, there and back.
    pub fn touch(&mut self, n: usize) -> Duration {
        let started = Instant::now();
        for i in 0..n {
            let at = scatter(i, self.plain.len());
            let cell = Box3::cell([0, at / self.side, at % self.side]);
            let old = self.tracker.uniform(&cell).unwrap_or(HERE);
            self.tracker.set(&cell, old.union(THERE));
            self.tracker.set(&cell, old);
        }
        started.elapsed()
    }

    /// The same with a plain array.
    pub fn touch_plain(&mut self, n: usize) -> Duration {
        let started = Instant::now();
        for i in 0..n {
            let at = scatter(i, self.plain.len());
            let old = self.plain[at];
            self.plain[at] = black_box(old.union(THERE));
            self.plain[at] = black_box(old);
        }
        started.elapsed()
    }

    /// Finds what is missing on the host, and plans how it comes.
    pub fn plan(&mut self) -> (Duration, usize) {
        let started = Instant::now();
        let mut needs = Vec::new();
        self.tracker.visit(&Box3::whole([1, self.side, self.side]), &mut |elements, sources| {
            if sources == THERE {
                needs.push(Need { elements, sources });
            }
        });
        self.planner.plan(&needs, 4096, &|_| Link::default(), &mut self.plan);
        (started.elapsed(), self.plan.len())
    }

    /// The same with a loop over a plain array, which joins runs along rows only.
    pub fn plan_plain(&mut self) -> (Duration, usize) {
        let started = Instant::now();
        self.plan.clear();
        for row in 0..self.side {
            let pages = &self.plain[row * self.side..][..self.side];
            let mut column = 0;
            for run in pages.chunk_by(|a, b| a == b) {
                if run[0] == THERE {
                    let (min, max) = ([0, row, column], [1, row + 1, column + run.len()]);
                    let elements = Box3 { min, max };
                    self.plan.push(Transfer { source: DomainId(1), elements });
                }
                column += run.len();
            }
        }
        (started.elapsed(), self.plan.len())
    }
}
