//! Random kernels of the IR: text, interpreter, analyses and passes agree (KRN-02, KRN-03, KRN-09).

use folio_model::interp::{Order, run};
use folio_model::kernels::{case, generate};
use folio_model::suite::{Budget, cases, line};
use std::time::Instant;

#[test]
fn suite_kernels() {
    let budget = Budget::of("KERNELS");
    let start = Instant::now();
    let (done, wrong) = cases(budget, 2, &case);
    println!("{}", line("kernels", done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} kernels, at least {least} asked");
}

/// What the suite's kernels are: enough of them do something that can be compared.
#[test]
fn random_kernels_do_all_kinds_of_things() {
    let (mut groups, mut failed, mut changed, mut endless, mut tiled) = (0, 0, 0, 0, 0);
    let (mut together, mut large) = (0, 0);
    let count = 300;
    for seed in 0..count {
        let case = generate(seed).unwrap();
        groups += i32::from(case.kernel.shape.groups);
        let items = case.launch.group.iter().product::<u64>();
        large += i32::from(case.kernel.shape.groups && items > 32);
        together += i32::from(case.kernel.to_string().contains("= subgroup"));
        let last = usize::from(case.kernel.shape.rank) - 1;
        tiled += i32::from(!case.kernel.shape.groups && case.launch.range[last].is_multiple_of(8));
        let mut args = case.args.clone();
        match run(&case.kernel, &case.launch, &mut args, Order::Forward, 300_000) {
            Ok(ran) if ran.failure.is_some() => failed += 1,
            Ok(_) => changed += i32::from(args != case.args),
            Err(_) => endless += 1,
        }
    }
    println!(
        "{groups} in groups, {large} of more than a warp, {together} with sub-groups, {failed} failed, {changed} changed, {endless} endless, {tiled} tiled"
    );
    assert!(groups > 50 && large > 10 && together > 30 && failed > 10);
    assert!(changed > 100 && endless < 30 && tiled > 10);
}
