use super::*;
use crate::survey::samples::{process, shape};

/// A survey of one process whose launches have these shapes and durations.
fn survey(shapes: &[Shape], launches: &[(u32, u64)]) -> Survey {
    Survey { processes: vec![process(shapes, launches)], ..Survey::default() }
}

#[test]
fn one_shape_is_one_group() {
    let launches = [(0, 100), (1, 900), (0, 140), (0, 120)];
    let groups = groups(&survey(&[shape("a", 1), shape("a", 2)], &launches));
    let of = |group: &Group| {
        (group.shape.grid[0], group.launches.len(), group.total_ns, group.median_ns)
    };
    assert_eq!(
        groups.iter().map(of).collect::<Vec<_>>(),
        [(2, 1, 900.0, 900.0), (1, 3, 360.0, 120.0)]
    );
    // 900 and 360 of 1260.
    assert!((groups[0].share - 900.0 / 1260.0).abs() < 1e-12);
    assert_eq!(groups[1].range_ns.map(f64::to_bits), [100.0, 140.0].map(f64::to_bits));
    assert_eq!(groups[1].launches[1], Launch { process: 0, index: 3 });
}

#[test]
fn one_shape_with_work_of_two_sizes_is_two_groups() {
    let launches: Vec<(u32, u64)> = [100, 1000, 104, 1010, 102, 990].map(|ns| (0, ns)).to_vec();
    let found = groups(&survey(&[shape("a", 1)], &launches));
    let medians: Vec<f64> = found.iter().map(|group| group.median_ns).collect();
    assert_eq!(medians, [1000.0, 102.0]);
    // Two slow launches at the start are no class, nor are short ones that take nothing of the time.
    for ns in [&[1000, 990, 100, 100, 100, 100][..], &[1, 1, 1, 1000, 1000, 1000]] {
        let launches: Vec<(u32, u64)> = ns.iter().map(|&ns| (0, ns)).collect();
        assert_eq!(groups(&survey(&[shape("a", 1)], &launches)).len(), 1, "{ns:?}");
    }
}

#[test]
fn the_median_is_not_left_to_launches_that_take_nothing_of_the_time() {
    let launches: Vec<(u32, u64)> = [1, 1, 1, 1, 1000, 1000, 1000].map(|ns| (0, ns)).to_vec();
    let found = groups(&survey(&[shape("a", 1)], &launches));
    let medians: Vec<f64> = found.iter().map(|group| group.median_ns).collect();
    assert_eq!(medians, [1000.0, 1.0]);
}

#[test]
fn processes_share_their_groups() {
    let mut two = survey(&[shape("a", 1)], &[(0, 100)]);
    two.processes.push(survey(&[shape("b", 1), shape("a", 1)], &[(1, 100)]).processes.remove(0));
    let groups = groups(&two);
    assert_eq!((groups.len(), groups[0].launches.len()), (1, 2));
}

#[test]
fn a_class_takes_a_twentieth_of_the_time_or_more() {
    let count = |durations: &[(usize, u64)]| {
        let launches: Vec<(u32, u64)> =
            durations.iter().flat_map(|&(count, ns)| vec![(0, ns); count]).collect();
        groups(&survey(&[shape("a", 1)], &launches)).len()
    };
    // 600 of 20,600 ns are 3%; 600 of 10,600 are 6%.
    assert_eq!((count(&[(200, 100), (3, 200)]), count(&[(100, 100), (3, 200)])), (1, 2));
    // Of 40,600 ns the 600 in the middle are no class of their own: they go with the longest.
    assert_eq!(count(&[(100, 100), (3, 200), (3, 10_000)]), 2);
}

#[test]
fn nine_in_ten_launches_lie_in_a_groups_range() {
    let launches: Vec<(u32, u64)> = (100..=120).map(|ns| (0, ns)).collect();
    let groups = groups(&survey(&[shape("a", 1)], &launches));
    // Of 21 launches the second and the last but one.
    assert_eq!(groups[0].range_ns.map(f64::to_bits), [101.0, 119.0].map(f64::to_bits));
}

#[test]
fn a_class_begins_where_a_duration_is_half_as_long_again() {
    let count = |longer: u64| {
        let launches = [100, 100, 100, longer, longer, longer].map(|ns| (0, ns));
        groups(&survey(&[shape("a", 1)], &launches)).len()
    };
    assert_eq!((count(150), count(151)), (1, 2));
}

#[test]
fn a_class_of_exactly_a_twentieth_stands_alone() {
    let count = |short: usize| {
        let mut launches = vec![(0, 100); short];
        launches.extend([(0, 200); 3]);
        groups(&survey(&[shape("a", 1)], &launches)).len()
    };
    // 600 of 12,000 ns, and of 12,100.
    assert_eq!((count(114), count(115)), (2, 1));
}
