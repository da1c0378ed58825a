//! Blocks in pieces: a block is cut where a command cannot be of a list, as the run of a graph is.
//! The store knows the pieces between cuts, each by itself, as if it were a block.

use super::Inner;
use super::batch::Batches;
use super::blocks::Search;
use super::conflicts::{After, Edges};
use super::fuse::Planned;
use super::items::{Item, cut, works};
use super::key::{Arguments, Key};
use super::pool::{Places, Temporaries};
use super::replay::before_of;
use super::steps::{Step, Steps};
use super::store::{Block, Class, Description, StoredList, Unit, Units};
use super::template::Template;
use super::why::WhyNot;
use crate::engine::runs::command::{Action, Command};
use smallvec::SmallVec;
use std::sync::Arc;

/// The commands of a block.
pub(super) struct Commands {
    /// None for one that is on its way.
    all: Vec<Option<Arc<Command>>>,
    pub(super) after: After,
    joined: Option<Joined>,
}

/// The commands of a block as they were described, where these are not what runs: kernels are to be
/// fused, or temporaries have the memory of earlier ones.
pub(super) struct Joined {
    fuses: bool,
    /// Without their buffers. None for one that runs only once.
    pub(super) described: Vec<Option<Arc<Template>>>,
    pub(super) edges: After,
    /// By command that runs: those that were described for it, and the plan by which they are one.
    pub(super) members: Vec<Members>,
    /// Its temporaries, and the memory of those that need some.
    pub(super) temporaries: (Temporaries, Places),
}

impl Joined {
    /// Of commands that have not been joined yet.
    pub(super) fn new(steps: &Steps, fuses: bool) -> Joined {
        let again = |step: &Step| {
            let command = step.template.command.again()?;
            Some(Arc::new(Template::of_command(command)))
        };
        let described = steps.all.iter().map(again).collect();
        let edges = steps.order.after.clone();
        Joined { fuses, described, edges, members: Vec::new(), temporaries: Default::default() }
    }
}

pub(super) type Members = (SmallVec<[usize; 4]>, Option<Arc<Planned>>);

/// Commands between cuts.
struct Piece {
    at: Vec<u32>,
    class: Class,
    /// The numbers of those that were described for these.
    described: Vec<u32>,
    arguments: Arc<[Arguments]>,
    scalars: Vec<u64>,
}

/// The pieces of a block, as far as the store knows them.
#[derive(Default)]
pub(super) struct Pieces {
    /// By item: its commands, and the list that they are.
    pub(super) all: Vec<(Vec<u32>, Option<Arc<StoredList>>)>,
    /// Why the block is not one list.
    pub(super) why_not: Option<WhyNot>,
    /// The store has had all pieces before.
    pub(super) known: bool,
    /// Commands were exchanged in a list.
    pub(super) exchanged: bool,
}

/// The edges that are between these commands, by their places among them.
fn within(edges: &Edges, at: &[u32]) -> Edges {
    let own = edges.iter().filter_map(|(from, uses)| Some((at.binary_search(from).ok()?, *uses)));
    own.map(|(from, uses)| (from as u32, uses)).collect()
}

impl Commands {
    pub(super) fn new(all: Vec<Command>, after: After, joined: Option<Joined>) -> Commands {
        let all = all.into_iter().map(|command| Some(Arc::new(command))).collect();
        Commands { all, after, joined }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    fn get(&self, at: u32) -> Option<&Command> {
        self.all.get(at as usize)?.as_deref()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Command> {
        self.all.iter().flatten().map(|command| &**command)
    }

    /// A command to submit, which goes, or is done again.
    pub(super) fn take(&mut self, at: u32) -> Option<Command> {
        let command = self.all.get_mut(at as usize)?.take()?;
        Arc::try_unwrap(command).or_else(|shared| shared.again().ok_or(())).ok()
    }

    /// A command that was not submitted after all.
    pub(super) fn put_back(&mut self, at: u32, command: Command) {
        if let Some(place) = self.all.get_mut(at as usize) {
            *place = Some(Arc::new(command));
        }
    }

    /// By command: why it is in no list.
    fn whys(&self, graph: &Inner) -> Vec<Option<WhyNot>> {
        let why = |command: &Command| match &command.action {
            _ if !command.after.is_empty() => {
                Some(WhyNot::Elsewhere("it comes after a command outside of the block"))
            }
            // The next block has another one of them.
            Action::Launch(Some(launch)) if launch.foreign.is_some() => {
                Some(WhyNot::OnHost("it calls a driver"))
            }
            Action::Conditional(_) => Some(WhyNot::Condition("it is a condition".into())),
            _ if command.device.is_some_and(|device| device != graph.device) => {
                Some(WhyNot::Elsewhere("it is of another device of the queue"))
            }
            _ => graph.why_not(command),
        };
        self.iter().map(why).collect()
    }

    /// The command of a number, as it was described.
    fn described(&self, at: u32) -> Option<&Command> {
        match &self.joined {
            Some(joined) => Some(&joined.described.get(at as usize)?.as_ref()?.command),
            None => self.get(at),
        }
    }

    /// Some of the commands as a piece. None if one of them runs only once.
    fn piece(&self, at: Vec<u32>) -> Option<Piece> {
        let (described, edges) = match &self.joined {
            Some(Joined { members, edges, .. }) => {
                let own = at.iter().filter_map(|at| members.get(*at as usize));
                let mut own: Vec<u32> =
                    own.flat_map(|(own, _)| own.iter().map(|at| *at as u32)).collect();
                own.sort_unstable();
                own.dedup();
                (own, edges)
            }
            None => (at.clone(), &self.after),
        };
        let key = |number: &u32| {
            let edges = within(edges.get(*number as usize)?, &described);
            Some((Key::of(self.described(*number)?), edges))
        };
        let mut keys: Vec<(Key, Edges)> = described.iter().map(key).collect::<Option<_>>()?;
        let arguments = keys.iter_mut().map(|(key, _)| std::mem::take(&mut key.arguments));
        let arguments = arguments.collect();
        let scalars = keys.iter().flat_map(|(key, _)| key.scalars.iter().copied()).collect();
        let fuses = self.joined.as_ref().is_some_and(|joined| joined.fuses);
        let class = Class::new(fuses, keys.into_iter());
        Some(Piece { at, class, described, arguments, scalars })
    }

    /// The block that a piece is.
    fn block(&self, piece: &Piece) -> Option<Block> {
        let Piece { at, described, arguments, scalars, .. } = piece;
        let template = |at: &u32| match &self.joined {
            Some(joined) => joined.described.get(*at as usize)?.clone(),
            None => Some(Arc::new(Template::of_command(self.get(*at)?.again()?))),
        };
        let templates = described.iter().map(template).collect::<Option<_>>()?;
        let (arguments, scalars) = (arguments.clone(), scalars.clone());
        let units = match &self.joined {
            Some(joined) => Some(Arc::new(self.units(joined, (at, described))?)),
            None => None,
        };
        Some(Block { described: Description { templates, arguments, scalars }, units })
    }

    fn units(&self, joined: &Joined, (at, described): (&[u32], &[u32])) -> Option<Units> {
        let unit = |at: &u32| {
            let (members, plan) = joined.members.get(*at as usize)?;
            let place = |member: &usize| described.binary_search(&(*member as u32)).ok();
            Some(Unit {
                members: members.iter().filter_map(place).collect(),
                command: self.all.get(*at as usize)?.clone()?,
                plan: plan.clone(),
            })
        };
        let all = at.iter().map(unit).collect::<Option<_>>()?;
        let after = at.iter().map(|number| within(&self.after[*number as usize], at)).collect();
        // A piece may read what another one has written.
        let is_whole = at.len() == self.len();
        let temporaries = if is_whole { joined.temporaries.clone() } else { Default::default() };
        Some(Units { all, after, temporaries })
    }
}

impl Pieces {
    /// Each command by itself.
    pub(super) fn single(count: usize, why_not: WhyNot) -> Pieces {
        let all = (0..count as u32).map(|at| (vec![at], None)).collect();
        Pieces { all, why_not: Some(why_not), known: true, exchanged: false }
    }

    /// The items of a run, whose lists are of this device.
    pub(super) fn items(&self, device: u16) -> Vec<Item> {
        let list = |known: &Option<Arc<StoredList>>| known.as_ref().map(|known| known.list.clone());
        let item = |(at, known): &(Vec<u32>, _)| Item { at: at.clone(), device, list: list(known) };
        self.all.iter().map(item).collect()
    }

    pub(super) fn lists(&self) -> impl Iterator<Item = &Arc<StoredList>> {
        self.all.iter().filter_map(|(_, known)| known.as_ref())
    }
}

impl Batches {
    /// Cuts a block, and looks for the lists that its pieces are.
    pub(super) fn pieces(&self, graph: &Inner, commands: &Commands) -> Pieces {
        let why = commands.whys(graph);
        let fits = why.iter().map(|why| why.is_none().then_some(graph.device));
        let fits: Vec<Option<u16>> = fits.collect();
        let before = before_of(&commands.after, commands.iter().map(|of| &of.accesses[..]));
        let mut cuts = cut(&before, &fits);
        if cuts.is_empty() {
            cuts.push((Vec::new(), Some(graph.device)));
        }
        let is_whole = cuts.len() == 1;
        let mut pieces = Pieces { known: true, ..Pieces::default() };
        let mut lists = 0;
        for (at, is_list) in cuts {
            let working = at.iter().filter(|at| commands.get(**at).is_some_and(works)).count();
            let found = match is_list.is_some() && (is_whole || working > 1) {
                true => {
                    lists += 1;
                    let taken: Vec<_> = pieces.lists().cloned().collect();
                    let found = self.list_of((graph, commands), at.clone(), &taken);
                    pieces.known &= !matches!(found, Err(WhyNot::First));
                    let why_not = &mut pieces.why_not;
                    found.inspect_err(|why| *why_not = why_not.take().or(Some(why.clone()))).ok()
                }
                false => None,
            };
            match found {
                Some((known, exchanged)) => {
                    pieces.exchanged |= exchanged;
                    pieces.all.push((at, Some(known)));
                }
                None => pieces.all.extend(at.into_iter().map(|at| (vec![at], None))),
            }
        }
        pieces.known &= lists > 0;
        let cut = why.into_iter().flatten().next();
        pieces.why_not = cut.or(pieces.why_not);
        pieces
    }

    /// The list that commands of a block are, and whether some were exchanged in it.
    fn list_of(
        &self,
        (graph, commands): (&Inner, &Commands),
        at: Vec<u32>,
        taken: &[Arc<StoredList>],
    ) -> Result<(Arc<StoredList>, bool), WhyNot> {
        let once = WhyNot::OnHost("it can run only once");
        let piece = commands.piece(at).ok_or_else(|| once.clone())?;
        let Some(entry) = self.entry_of(&piece.class) else {
            self.note_class(piece.class);
            return Err(WhyNot::First);
        };
        if let Some(why) = &entry.why_not {
            return Err(why.clone());
        }
        let block = Some(commands.block(&piece).ok_or(once)?);
        let mut search = Search { graph, batches: self, entry, block, trail: None, taken };
        search.with_commands()
    }
}
