//! Loom models of rounds: the real slots, seats and jobs, over work that checks what rounds promise
//! it. No time passes (see `sync`), so leaders sleep and members leave wherever they may.

use super::Crew;
use crate::job::{Job, Stage, Work};
use crate::round::{End, Slot};
use folio_core::loom_model::check;
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

/// What the threads of a round do. Loom finds accesses of a cell that nothing orders.
struct Board {
    /// By stage and block: how often it ran.
    blocks: Vec<Vec<UnsafeCell<usize>>>,
    /// How many stages were prepared.
    prepared: UnsafeCell<usize>,
    /// Threads read it while they use the job; the leader writes it when no thread does any more.
    job: UnsafeCell<()>,
    /// This block, by stage and number, fails.
    fails: Option<(usize, usize)>,
}

impl Board {
    fn new(stages: &[usize], fails: Option<(usize, usize)>) -> Board {
        let cells = |count: &usize| (0..*count).map(|_| UnsafeCell::new(0)).collect();
        let blocks = stages.iter().map(cells).collect();
        Board { blocks, prepared: UnsafeCell::new(0), job: UnsafeCell::new(()), fails }
    }

    /// How often the blocks of a stage have run.
    fn ran(&self, stage: usize) -> Vec<usize> {
        // SAFETY: loom checks that no thread writes meanwhile.
        let read = |cell: &UnsafeCell<usize>| cell.with(|value| unsafe { *value });
        self.blocks[stage].iter().map(read).collect()
    }

    fn is_whole(&self, stage: usize) -> bool {
        self.ran(stage).iter().all(|ran| *ran == 1)
    }

    fn uses_job(&self) {
        self.job.with(|_| ());
    }
}

// SAFETY: loom checks each access of the cells.
unsafe impl Sync for Board {}
// SAFETY: as above.
unsafe impl Send for Board {}

impl Work for Board {
    fn run(&self, stage: usize, block: usize) -> bool {
        self.uses_job();
        assert!(stage == 0 || self.is_whole(stage - 1), "it began too early");
        // SAFETY: loom checks that no other thread has it.
        self.blocks[stage][block].with_mut(|ran| unsafe { *ran += 1 });
        self.fails != Some((stage, block))
    }

    fn prepare(&self, stage: usize) -> bool {
        self.uses_job();
        assert!(self.is_whole(stage - 1), "it was prepared too early");
        // SAFETY: as above.
        self.prepared.with_mut(|prepared| unsafe { *prepared += 1 });
        true
    }
}

/// Stages of so many blocks, each in two parts. A thread takes one block at a time.
fn stages(board: &Board) -> Vec<Stage> {
    board.blocks.iter().map(|blocks| Stage::new((blocks.len(), 1 << 20), 2)).collect()
}

impl Crew {
    fn slot(&self) -> &Slot {
        &self.slots[0].0
    }

    /// Leads a round of all stages, as a driver does; alone if another thread has the slot.
    fn leads(&self, board: &Board) {
        let stages = stages(board);
        let job = Job::new(board, &stages, false);
        let slot = self.slot();
        if slot.claim() {
            let round = slot.open(&job, 1);
            self.opens_one();
            slot.lead(&job, (round, 0), &mut |_| false);
            self.closes_one((0, slot), || ());
        } else {
            job.run_alone();
        }
        // SAFETY: loom checks that no thread uses the job.
        board.job.with_mut(|_| ());
    }

    /// Takes part once, if a round is open; `leaves` after the first blocks, or stays.
    fn joins<'b>(&self, board: impl Fn(u64) -> &'b Board, leaves: bool) -> Option<End> {
        let member = self.seats[1].0.enter(self.slot(), 0)?;
        let end = self.slot().join(member.job(), (member.round, 1), &mut |_| leaves);
        board(member.round).uses_job();
        Some(end)
    }
}

/// A leader, and a thread that takes part so often, over stages of so many blocks. Tells what ran.
fn round(stages: &[usize], fails: Option<(usize, usize)>, joins: usize, leaves: bool) -> Board {
    let board = Arc::new(Board::new(stages, fails));
    let crew = Arc::new(Crew::new(2));
    let (same_crew, same_board) = (crew.clone(), board.clone());
    let member = thread::spawn(move || {
        for _ in 0..joins {
            same_crew.joins(|_| &same_board, leaves);
        }
    });
    crew.leads(&board);
    // The leader goes on when the round is over, and does not wait for the thread's end.
    (0..stages.len()).for_each(|stage| drop(board.ran(stage)));
    member.join().unwrap();
    Arc::into_inner(board).unwrap()
}

#[test]
fn loom_each_block_of_a_launch_runs_once() {
    check(Some(3), || {
        let board = round(&[4], None, 2, false);
        assert!(board.is_whole(0));
    });
}

#[test]
fn loom_a_stage_begins_when_all_blocks_before_have_ended() {
    check(Some(2), || {
        let board = round(&[2, 2], None, 1, false);
        assert!(board.is_whole(0) && board.is_whole(1));
        assert_eq!(board.prepared.into_inner(), 1);
    });
}

#[test]
fn loom_a_member_that_leaves_a_stage_has_counted_its_blocks() {
    check(Some(2), || {
        let board = round(&[2, 1], None, 2, true);
        assert!(board.is_whole(0) && board.is_whole(1));
    });
}

#[test]
fn loom_a_block_that_fails_ends_the_round() {
    for fails in [0, 1] {
        check(Some(2), move || {
            let board = round(&[2, 2], Some((0, fails)), 2, false);
            assert_eq!(board.ran(0)[fails], 1);
            assert_eq!(board.ran(1), [0, 0]);
        });
    }
}

/// A thread that is late may take part in the round that comes next.
#[test]
fn loom_a_slot_has_one_round_after_the_other() {
    check(Some(2), || {
        let boards = Arc::new([(); 2].map(|()| Board::new(&[2], None)));
        let crew = Arc::new(Crew::new(2));
        let (same_crew, same_boards) = (crew.clone(), boards.clone());
        let member = thread::spawn(move || {
            for _ in 0..2 {
                same_crew.joins(|round| &same_boards[usize::from(round > 1)], false);
            }
        });
        boards.iter().for_each(|board| crew.leads(board));
        member.join().unwrap();
        assert!(boards.iter().all(|board| board.is_whole(0)));
    });
}

/// One of two leaders finds no slot, or both find it.
#[test]
fn loom_two_leaders_have_rounds_of_their_own() {
    check(Some(3), || {
        let boards = Arc::new([(); 2].map(|()| Board::new(&[2], None)));
        let crew = Arc::new(Crew::new(2));
        let (same_crew, same_boards) = (crew.clone(), boards.clone());
        let other = thread::spawn(move || same_crew.leads(&same_boards[1]));
        crew.leads(&boards[0]);
        other.join().unwrap();
        assert!(boards.iter().all(|board| board.is_whole(0)));
    });
}
