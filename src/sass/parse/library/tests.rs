use super::*;

#[test]
fn each_routine_has_a_mark() {
    for (text, routine) in [
        ("FMUL R4, R0.reuse, 0.63661974668502807617", Some(R::Sine)),
        ("FMUL.RZ R0, R0, 0.15915493667125701904", None),
        ("FFMA.RM R4, R4, R7, 12582913", Some(R::Exponential)),
        ("FFMA R7, R6, R7, -0.16684235632419586182", Some(R::Logarithm)),
        ("FFMA R7, R4, R7, 0.14491446316242218018", Some(R::LogarithmOfOnePlus)),
        ("FFMA R8, R7, R6, 0.041665729135274887085", Some(R::ExponentialMinusOne)),
        ("FFMA R11, R6, R5, 0.018033718690276145935", Some(R::PowerLogarithm)),
        ("FFMA R5, R0, R9, 0.0013391353422775864601", Some(R::Power)),
        ("FFMA.FTZ R3, R8, R3, 0.041667830199003219604", Some(R::ExponentialMinusOne)),
        ("FFMA.FTZ R9, R0, R9, 0.083333469927310943604", Some(R::PowerLogarithm)),
        ("FFMA.FTZ R0, R11.reuse, 1.9046542121259335545e-09, R0", Some(R::Power)),
        ("FMUL R0, |R4|.reuse, 2.8853900432586669922", Some(R::Tanh)),
        ("FFMA.FTZ R0, R121, R0, -0.052303962409496307373", Some(R::SmallTanh)),
        ("FCHK P0, R0, R7", Some(R::Division)),
        ("IADD3 R2, PT, PT, R0, 0x1800000, RZ", Some(R::Reciprocal)),
        ("IADD3 R4, R0, -0xd000000, RZ", Some(R::SquareRoot)),
        ("I2F.U32.RP R6, UR6", Some(R::IntegerDivision)),
        ("I2F.RP R0, R7", Some(R::SignedDivision)),
        ("I2F.U64.RP R10, UR4", Some(R::LongDivision)),
        ("I2F.S32 R0, R7", None),
        ("IMAD.HI.U32 R5, R5, R7, RZ", Some(R::RepeatedDivision)),
        ("IMAD.HI.U32 R5, R5, R7, R4", None),
        ("IMAD.HI.U32 R5, R5, 0x55555556, RZ", None),
        ("FRND.TRUNC R5, R5", Some(R::Remainder)),
        ("IADD3 R0, -R5, 0x7e800000, RZ", Some(R::Hypotenuse)),
        ("LOP3.LUT R35, R12, 0x7e800000, RZ, 0x3c, !PT", Some(R::Hypotenuse)),
        ("IADD3 R9, -R6, 0x7fd00000, RZ", Some(R::DoubleHypotenuse)),
        ("FRND.FLOOR R5, R5", None),
        ("FRND.F64.TRUNC R4, R4", None),
        ("MUFU.RCP R2, R7", None),
        ("MUFU.RCP64H R9, UR5", Some(R::DoubleDivision)),
        ("MUFU.RSQ64H R9, R5", Some(R::DoubleRoot)),
        ("UMOV UR4, 0x6dc9c883", Some(R::DoubleSine)),
        ("DFMA R20, R18, R6, 6.75539944105574400000e+15", Some(R::DoubleExponential)),
        ("UMOV UR7, 0x3eb0f5ff", Some(R::DoublePower)),
        ("DADD R2, R20, -6.75539944105574400000e+15", None),
        ("ISETP.GE.U32.AND P0, PT, R17, 0x3ff6a09f, PT", Some(R::DoubleLogarithm)),
        ("ISETP.GT.U32.AND P1, PT, R22, 0x7feffffe, PT", None),
        ("IMAD.MOV.U32 R4, RZ, RZ, 0x6dc9c883", Some(R::DoubleSine)),
    ] {
        assert_eq!(Instruction::parse(text).and_then(|each| mark(&each)), routine, "{text}");
    }
}

#[test]
fn fast_forms_cost_less() {
    for routine in [
        R::Sine,
        R::Exponential,
        R::Logarithm,
        R::LogarithmOfOnePlus,
        R::ExponentialMinusOne,
        R::Power,
        R::PowerLogarithm,
        R::Tanh,
        R::SmallTanh,
        R::Division,
        R::Reciprocal,
        R::SquareRoot,
        R::Remainder,
        R::Hypotenuse,
        R::DoubleHypotenuse,
        R::DoubleDivision,
        R::RepeatedDoubleDivision,
        R::DoubleRoot,
        R::DoubleSine,
        R::DoubleExponential,
        R::DoubleLogarithm,
        R::DoublePower,
        R::WholePower,
        R::IntegerDivision,
        R::RepeatedDivision,
        R::SignedDivision,
        R::RepeatedSignedDivision,
        R::ShortLongDivision,
    ] {
        let (now, then) = (routine.cost(), routine.fast_cost());
        assert!(then.all < now.all, "{routine:?}");
        let turns = |cost: Cost| cost.fma + cost.alu + cost.xu + cost.fp64;
        assert!(turns(then) < turns(now), "{routine:?}");
    }
}
