//! Makes a program that fails small: fewer steps, simpler steps, fewer devices, as long as it goes
//! on failing.

use crate::program::{Action, Ends, Groups, Program, What};

/// Tries smaller programs until none of them fails; `fails` decides, and is asked at most `most`
/// times.
pub fn shrink(program: &Program, most: usize, fails: &dyn Fn(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut left = most;
    let mut try_one = |candidate: Program, best: &mut Program| {
        if left == 0 || candidate == *best {
            return false;
        }
        left -= 1;
        let better = fails(&candidate);
        if better {
            *best = candidate;
        }
        better
    };
    loop {
        let before = best.clone();
        let mut size = best.steps.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < best.steps.len() {
                let mut candidate = best.clone();
                let end = (at + size).min(candidate.steps.len());
                candidate.steps.drain(at..end);
                if !try_one(candidate, &mut best) {
                    at += size;
                }
            }
            size /= 2;
        }
        for simpler in simplifications(&best) {
            let mut candidate = best.clone();
            simpler(&mut candidate);
            try_one(candidate, &mut best);
        }
        for at in 0..best.steps.len() {
            for nth in 0.. {
                let mut candidate = best.clone();
                if !simplify_step(&mut candidate, at, nth) {
                    break;
                }
                try_one(candidate, &mut best);
            }
        }
        if best == before {
            return best;
        }
    }
}

type Change = Box<dyn Fn(&mut Program)>;

fn simplifications(program: &Program) -> Vec<Change> {
    let mut all: Vec<Change> = vec![
        Box::new(|p| p.config.validate = false),
        Box::new(|p| p.config.budget = None),
        Box::new(|p| p.config.abrupt = false),
        Box::new(|p| p.steps.iter_mut().for_each(|s| s.thread = 0)),
        Box::new(|p| p.config.queues.iter_mut().for_each(|q| q.in_order = false)),
    ];
    for at in 0..program.config.queues.len() {
        all.push(Box::new(move |p| p.config.queues[at].devices.truncate(1)));
    }
    for at in 0..program.buffers.len() {
        all.push(Box::new(move |p| p.buffers[at].dense = false));
        all.push(Box::new(move |p| p.buffers[at].initialised = p.buffers[at].policy.is_view()));
        all.push(Box::new(move |p| p.buffers[at].page = None));
        all.push(Box::new(move |p| p.buffers[at].policy = Default::default()));
        all.push(Box::new(move |p| p.buffers[at].evict = None));
    }
    if program.config.sim.is_some() {
        let sims: [fn(&mut crate::program::Sim); 13] = [
            |s| s.notifies = false,
            |s| s.jitter = 0,
            |s| s.late = [1, 1],
            |s| s.overlap = false,
            |s| s.visible_every = 1,
            |s| s.lags = [0; 3],
            |s| s.batch = 1,
            |s| s.max_in_flight = 4096,
            |s| s.courier = false,
            |s| s.first_on_host = false,
            |s| s.groups = Groups::One,
            |s| s.copy_lanes = true,
            |s| s.peers = false,
        ];
        for change in sims {
            all.push(Box::new(move |p| {
                p.config.sim.iter_mut().for_each(change);
            }));
        }
    }
    all
}

/// Makes step `at` simpler in the `nth` way; `false` when there is no such way.
fn simplify_step(program: &mut Program, at: usize, nth: usize) -> bool {
    let What::Submit { action, after, queue } = &mut program.steps[at].what else { return false };
    match nth {
        0 => after.clear(),
        1 => *queue = 0,
        2 => match action {
            Action::Kernel { ends, .. } | Action::Task { ends, .. } => *ends = Ends::Well,
            _ => {}
        },
        3 => match action {
            Action::Kernel { skip, .. } | Action::Task { skip, .. } => *skip = None,
            _ => {}
        },
        4 => {
            if let Action::Kernel { accesses, .. } = action
                && accesses.len() > 1
            {
                accesses.remove(0);
            }
        }
        5 => {
            if let Action::Task { read, .. } = action {
                *read = None;
            }
        }
        _ => return false,
    }
    true
}
