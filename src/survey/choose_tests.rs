use super::*;
use crate::survey::group::groups;
use crate::survey::samples::{process, shape};

const ALL: Extent = Extent { coverage: 1.0, top: usize::MAX };

/// The names, numbers and launches that are chosen.
fn chosen(survey: &Survey, extent: Extent) -> Choice {
    let groups = groups(survey);
    choose(survey, &groups, &covered(&groups, extent))
}

#[test]
fn groups_are_taken_until_the_time_is_explained() {
    let shapes = [shape("a", 1), shape("b", 1), shape("c", 1)];
    let survey = Survey {
        processes: vec![process(&shapes, &[(0, 600), (1, 300), (2, 100)])],
        ..Survey::default()
    };
    let groups = groups(&survey);
    let count = |coverage, top| covered(&groups, Extent { coverage, top }).len();
    assert_eq!((count(0.5, 9), count(0.6, 9), count(0.9, 9), count(0.91, 9)), (1, 1, 2, 3));
    assert_eq!((count(1.0, 2), count(0.0, 9)), (2, 1));
}

#[test]
fn what_may_not_be_profiled_is_no_part_of_the_extent() {
    let shapes = ["waits", "a", "b", "c"].map(|name| shape(name, 1));
    let launches = [(0, 900), (1, 60), (2, 30), (3, 10)];
    let survey = Survey { processes: vec![process(&shapes, &launches)], ..Survey::default() };
    let groups = groups(&survey);
    let of = |coverage, top| {
        covered_of(&groups, Extent { coverage, top }, |group| group.shape.kernel != "waits")
    };
    // 60 of the 100 ns of the rest, then 90.
    assert_eq!((of(0.6, 9), of(0.9, 9), of(1.0, 2)), (vec![1], vec![1, 2], vec![1, 2]));
    assert_eq!(covered_of(&groups, ALL, |_| false), Vec::<usize>::new());
}

#[test]
fn one_number_serves_kernels_that_are_launched_alike() {
    // Each kernel four times in turn; the first launches are slow.
    let launches: Vec<(u32, u64)> = (0..4)
        .flat_map(|round| {
            [(0, 100), (1, 50)].map(|(of, ns)| (of, if round == 0 { 3 * ns } else { ns }))
        })
        .collect();
    let shapes = [shape("a", 1), shape("b", 1)];
    let survey = Survey { processes: vec![process(&shapes, &launches)], ..Survey::default() };
    let choice = chosen(&survey, ALL);
    assert_eq!(
        (&choice.kernels[..], &choice.numbers[..]),
        (&["a".to_owned(), "b".to_owned()][..], &[1][..])
    );
    let indices: Vec<u32> = choice.launches.iter().map(|chosen| chosen.launch.index).collect();
    assert_eq!(indices, [2, 3]);
}

#[test]
fn numbers_are_chosen_for_few_launches_beside_those_wanted() {
    // `a` with two grids in turn, `b` three times: 1 serves the second grid and `b`, 2 the first.
    let shapes = [shape("a", 1), shape("a", 2), shape("b", 1)];
    let launches = [(0, 100), (1, 200), (0, 100), (1, 200), (2, 10), (2, 10), (2, 10)];
    let survey = Survey { processes: vec![process(&shapes, &launches)], ..Survey::default() };
    let choice = chosen(&survey, ALL);
    assert_eq!(choice.numbers, [1, 2]);
    // Three groups, and one launch of `b` more than needed.
    let groups: Vec<usize> = choice.launches.iter().map(|chosen| chosen.group).collect();
    assert_eq!(groups, [0, 1, 2, 2]);
    // `a` alone needs no more than itself.
    let choice = chosen(&survey, Extent { coverage: 0.5, top: 1 });
    assert_eq!((choice.launches.len(), &choice.kernels[..]), (1, &["a".to_owned()][..]));
}

#[test]
fn a_launch_is_typical() {
    let shapes = [shape("a", 1)];
    let launches: Vec<(u32, u64)> = [500, 90, 130, 101, 100, 99, 98].map(|ns| (0, ns)).to_vec();
    let survey = Survey { processes: vec![process(&shapes, &launches)], ..Survey::default() };
    // The median is 100: the first within 5% of it is that of 101.
    assert_eq!(chosen(&survey, ALL).numbers, [3]);
}

#[test]
fn each_process_counts_for_itself() {
    let one = process(&[shape("a", 1)], &[(0, 100)]);
    let two = process(&[shape("b", 1), shape("a", 1)], &[(0, 7), (1, 100), (0, 7)]);
    let survey = Survey { processes: vec![one, two], ..Survey::default() };
    let choice = chosen(&survey, Extent { coverage: 0.9, top: 1 });
    assert_eq!(choice.numbers, [0]);
    // The same launch in both processes: ncu has no option that tells them apart.
    assert_eq!(choice.launches.len(), 2);
}

#[test]
fn a_launch_within_a_twentieth_of_the_median_is_typical() {
    let launches = [1000, 1051, 1050, 1000, 1000].map(|ns| (0, ns));
    let survey =
        Survey { processes: vec![process(&[shape("a", 1)], &launches)], ..Survey::default() };
    // The first launch stands aside, and 1051 is 5.1% off.
    assert_eq!(chosen(&survey, ALL).numbers, [2]);
}

#[test]
fn of_two_numbers_the_one_that_selects_fewer_launches_is_taken() {
    // Number 1 selects a launch of another group in the other process, number 2 none.
    let one = process(&[shape("a", 1)], &[(0, 100), (0, 100), (0, 100)]);
    let two = process(&[shape("a", 2)], &[(0, 10), (0, 10)]);
    let survey = Survey { processes: vec![one, two], ..Survey::default() };
    let choice = chosen(&survey, Extent { coverage: 0.9, top: 1 });
    assert_eq!((&choice.numbers[..], choice.launches.len()), (&[2][..], 1));
}

#[test]
fn a_groups_first_two_thousand_numbers_are_chosen_among() {
    // `b` changes its grid in its last launch, which `a` has a launch beside.
    let numbers = |count: usize| {
        let shapes = [shape("a", 1), shape("b", 1), shape("b", 2)];
        let mut launches = vec![(0, 1000); count];
        launches.extend(vec![(1, 1); count - 1]);
        launches.push((2, 500_000));
        let survey = Survey { processes: vec![process(&shapes, &launches)], ..Survey::default() };
        chosen(&survey, Extent { coverage: 0.9, top: 2 }).numbers
    };
    // Number 0 stands aside: number 2000 is the two thousandth, and 2001 too late.
    assert_eq!((numbers(2001), numbers(2002)), (vec![2000], vec![1, 2001]));
}
