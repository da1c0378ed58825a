//! Choosing devices: by the user, by schedulers.

use super::rig::*;
use super::tests;
use folio_core::canary::Canary;
use folio_core::sched::{Candidate, Locality, RoundRobin, Scheduler, Task};
use folio_core::{DeviceRef, Error, Selector};
use std::sync::{Arc, Mutex, PoisonError};

tests![
    devices_are_found_by_what_they_are,
    what_is_not_there_lists_what_is,
    locality_goes_where_the_data_is,
    round_robin_takes_turns,
    users_schedulers_are_asked_and_checked,
    one_physical_device_is_used_once,
];

/// BACK-04
fn devices_are_found_by_what_they_are(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        ensure_eq!(rig.rt.device(device.name())?.name(), device.name());
        ensure_eq!(rig.rt.queue_on(&device)?.device().name(), device.name());
        let name = device.info().name.clone();
        let same = Selector::any().that(move |d| d.name == name);
        ensure_eq!(rig.rt.device(same)?.info().name, device.info().name);
        ensure_eq!(rig.rt.device(device.info().kind)?.info().kind, device.info().kind);
    }
    let first = rig.rt.devices().remove(0);
    let backend = first.name().split(':').next().unwrap_or_default().to_owned();
    ensure_eq!(rig.rt.device(backend)?.name(), first.name());
    Ok(())
}

/// BACK-04, ERR-01
fn what_is_not_there_lists_what_is(rig: &Rig) -> Outcome {
    let names: Vec<String> = rig.rt.devices().iter().map(|d| d.name().to_owned()).collect();
    let none = Selector::any().that(|_| false);
    for selector in [Selector::any().named("no such thing"), none] {
        let Err(error) = rig.rt.queue_on(selector) else {
            return Err(Stop::Failed("found a device that is not there".into()));
        };
        ensure!(matches!(error, Error::DeviceNotFound { .. }), "{error:?}");
        let text = error.to_string();
        ensure!(names.iter().all(|n| text.contains(n.as_str())), "{text}");
    }
    let empty = folio_core::Runtime::builder().build()?;
    refused!(empty.queue(), Error::DeviceNotFound { .. });
    refused!(empty.queue_over(&[], Locality), Error::DeviceNotFound { .. });
    Ok(())
}

fn name_of(q: &folio_core::Queue, x: &mut folio_core::Buffer<i32>) -> Result<String, Stop> {
    Ok(failure(q.run(1, fails(0, x))?.wait())?.device().to_owned())
}

/// BACK-03
fn locality_goes_where_the_data_is(rig: &Rig) -> Outcome {
    let own = rig.separate(2)?;
    let devices: Vec<DeviceRef> = own.iter().map(|q| q.device()).collect();
    let q = rig.rt.queue_over(&devices, Locality)?;
    ensure_eq!(q.devices().len(), 2);
    for at in [1, 0, 1] {
        let mut x = rig.rt.buffer_from(&[1; 1000])?;
        add(&own[at], &mut x, 1)?.wait()?;
        ensure_eq!(name_of(&q, &mut x)?, devices[at].name());
    }
    Ok(())
}

/// BACK-03
fn round_robin_takes_turns(rig: &Rig) -> Outcome {
    let devices = rig.rt.devices();
    let q = rig.rt.queue_over(&[], RoundRobin)?;
    for n in 0..2 * devices.len() {
        let mut x = rig.rt.buffer_from(&[1; 4])?;
        ensure_eq!(name_of(&q, &mut x)?, devices[n % devices.len()].name());
    }
    Ok(())
}

type Seen = Arc<Mutex<Vec<(String, Option<usize>, u64, Vec<u64>)>>>;

struct Own(Seen, usize, Canary);

impl Scheduler for Own {
    fn choose(&self, task: &Task<'_>, candidates: &[Candidate<'_>]) -> usize {
        self.2.runs();
        let items = task.range.map(|r| r.iter().product());
        let bytes = candidates.iter().map(|c| c.bytes_to_move).collect();
        let seen = (task.label.to_owned(), items, task.sequence, bytes);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        self.1
    }
}

/// BACK-03, BACK-01: nonsense means the first device.
fn users_schedulers_are_asked_and_checked(rig: &Rig) -> Outcome {
    let devices = rig.rt.devices();
    let last = devices.len() - 1;
    for (answer, expect) in [(last, last), (devices.len(), 0), (usize::MAX, 0)] {
        let seen = Seen::default();
        let q =
            rig.rt.queue_over(&devices, Own(seen.clone(), answer, Canary::new("a scheduler")))?;
        let mut x = rig.rt.buffer_from(&[1; 25])?;
        let call = fails(0, &mut x);
        let event = q.submit(|cg| {
            cg.label("mine").run(20, call);
            Ok(())
        })?;
        ensure_eq!(failure(event.wait())?.device(), devices[expect].name());
        let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        ensure_eq!(seen.len(), 1);
        let (label, items, sequence, bytes) = &seen[0];
        ensure_eq!((label.as_str(), *items, *sequence), ("mine", Some(20), 0));
        for (device, bytes) in devices.iter().zip(bytes) {
            let home = device.info().home == folio_core::hal::MemoryHome::Host;
            ensure_eq!(*bytes, if home { 0 } else { 100 });
        }
    }
    Ok(())
}

/// BACK-04: needs devices that say who they are.
fn one_physical_device_is_used_once(rig: &Rig) -> Outcome {
    if rig.rt.devices().iter().any(|d| d.info().uuid.is_none()) {
        return unsupported("devices with a UUID");
    }
    let one = rig.builder().build()?.devices().len();
    let twice = rig.builder().shared_backend(rig.backend());
    ensure_eq!(twice.build()?.devices().len(), one);
    let twice = rig.builder().shared_backend(rig.backend()).keep_twins();
    ensure_eq!(twice.build()?.devices().len(), 2 * one);
    Ok(())
}
