//! Exchanging commands of a block, whose other commands stay: the device's graph is not made again.
//!
//! What the block waits for, and whether its memory is there, is looked at first: a block that
//! cannot be one operation now exchanges nothing. From then on the graph is of another version.

use crate::engine::Engine;
use crate::engine::lanes::Payload;
use crate::engine::ledger::Ledger;
use crate::engine::runs::block::{Block, MOVED, On, SLOW, Trust};
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::part::{Apart, MOVES, TRACED};
use crate::engine::runs::whole::{Uses, update};
use crate::engine::terms::access::Access;
use crate::foreign;
use crate::metrics::Hold;
use crate::planted::{Plant, Planted};
use crate::sync::Mutex;
use std::sync::Arc;

/// A graph takes no exchange while a replay of it is on its way to the device.
pub(crate) const BUSY: Apart = "what the block has replaced is still on its way to the device";

/// What a block does from now on.
pub(crate) struct Exchange<'c> {
    /// By number: commands in the place of others, and their scalars where these are not their own.
    pub(crate) changed: Vec<(usize, &'c Command, Option<&'c [u64]>)>,
    /// What all commands use together, if that is something else than before.
    pub(crate) accesses: Option<Vec<Access>>,
}

/// Why nothing has been exchanged.
pub(crate) enum NotExchanged {
    /// The block cannot be one operation now. Its graph does what it did.
    Apart(Apart),
    /// The device has refused it, and the graph is of no use any more.
    Refused,
}

impl Engine {
    /// That commands of a block may be exchanged now, as far as that is known without the ledger.
    pub(crate) fn may_exchange(&self, block: &Block) -> Result<(), Apart> {
        let native = &block.whole.native;
        if foreign::listening() {
            return Err(TRACED);
        }
        if native.graph.is_slow() {
            return Err(SLOW);
        }
        match native.is_idle() || self.plant.is(Planted::EarlyExchange) {
            true => Ok(()),
            false => Err(BUSY),
        }
    }

    /// Exchanges commands of a block. What was submitted before does what it did.
    pub(crate) fn exchange(
        &self,
        on: On,
        block: &Block,
        exchange: Exchange<'_>,
        trust: &Mutex<Trust>,
    ) -> Result<Block, NotExchanged> {
        let Exchange { changed, accesses } = exchange;
        let mut actions: Vec<(usize, &[Access], Action)> = Vec::with_capacity(changed.len());
        for (at, command, scalars) in changed {
            let mut action = command.action.again().ok_or(NotExchanged::Refused)?;
            if let Action::Launch(Some(launch)) = &mut action {
                scalars.into_iter().for_each(|words| launch.set_scalars(words));
                launch.arm();
            }
            actions.push((at, &command.accesses, action));
        }
        let whole = &block.whole;
        let begun = self.begin_exchange(on, block, accesses.as_deref(), trust, &mut actions);
        let Begun { version, uses, accesses, payloads } = begun.map_err(NotExchanged::Apart)?;
        let mut done = Ok(());
        for (node, mut payload) in payloads {
            let stale = self.plant.is(Planted::StaleScalar);
            if done.is_ok() && payload.is_some() && !stale {
                done = update(&*whole.native.graph, node, &mut payload);
            }
            if let Some(Payload::Launch(Some(launch))) = payload {
                launch.recycle();
            }
        }
        done.map_err(|_| NotExchanged::Refused)?;
        Ok(Block { whole: Arc::new(whole.exchanged(version, uses)), accesses })
    }

    fn begin_exchange(
        &self,
        on: On,
        block: &Block,
        accesses: Option<&[Access]>,
        trust: &Mutex<Trust>,
        actions: &mut [(usize, &[Access], Action)],
    ) -> Result<Begun, Apart> {
        let mut ledger = self.lock();
        let hold = Hold::begin();
        ledger.look_at(on.device);
        let begun = ledger.begin_block(on, block, accesses, &mut trust.lock(), self.plant);
        let begun = begun.map(|begun| {
            let payloads = actions.iter_mut();
            let payloads = payloads
                .map(|(at, accesses, action)| (*at, ledger.payload_of(action, accesses)))
                .collect();
            Begun { payloads, ..begun }
        });
        hold.end();
        self.leave(ledger);
        begun
    }
}

/// An exchange that has begun.
struct Begun {
    version: u64,
    uses: Arc<Uses>,
    accesses: Arc<[Access]>,
    /// By number of the command.
    payloads: Vec<(usize, Option<Payload>)>,
}

impl Ledger {
    /// Begins an exchange of commands of a block that uses this then, or what it used before.
    /// Returns the graph's next version, and what the block uses.
    fn begin_block(
        &self,
        on: On,
        block: &Block,
        accesses: Option<&[Access]>,
        trust: &mut Trust,
        plant: Plant,
    ) -> Result<Begun, Apart> {
        let whole = &block.whole;
        let (uses, accesses) = match accesses {
            None if self.is_where_it_was(whole) => (whole.uses.clone(), block.accesses.clone()),
            None => return Err(MOVED),
            Some(all) => {
                let uses = self.uses(all, &whole.uses).ok_or(MOVED)?;
                (Arc::new(uses), Block::accesses(all))
            }
        };
        match self.ready_for_block(on, (whole, &accesses), trust) {
            Ok(_) => {}
            Err(MOVES) if self.are_allocated(&accesses) => {}
            Err(why) => return Err(why),
        }
        let version = whole.next_version(plant).ok_or(BUSY)?;
        Ok(Begun { version, uses, accesses, payloads: Vec::new() })
    }
}
