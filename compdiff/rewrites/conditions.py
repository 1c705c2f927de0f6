"""The conditions that rules share. In: nothing, this is a table. Out: each predicate with the sentence for its failure."""

from compdiff.rewrites import predicates as p
from compdiff.rewrites.condition import Condition

TRACED = Condition(
    holds=p.is_traced,
    otherwise="{it.call} was not traced into a compiled graph: it runs outside, where nothing is rewritten.",
)
NO_WORK_LEFT = Condition(
    holds=p.has_no_work_left, otherwise="{it.items} still does the work of {it.call}."
)
NOT_NEEDED = Condition(
    holds=p.is_not_needed,
    otherwise="{it.call} is needed: {it.readers} uses its result.",
    kind="op call whose result nothing needs",
)
LEFT_OUT_BY_DYNAMO = Condition(
    holds=p.is_left_out_by_dynamo,
    otherwise="Dynamo's graph holds {it.call}, or something needs it.",
)
OF_ANOTHER_LAYOUT = Condition(
    holds=p.is_of_another_layout,
    otherwise="{it.call} is made on both sides on inputs of one layout.",
)
ONLY_VIEWS = Condition(
    holds=p.only_views,
    otherwise="{it.call} makes new memory: it is no view.",
    kind="view",
)
MADE_BY_NO_OP_CALL = Condition(
    holds=p.is_made_by_no_op_call,
    otherwise="{it.others} does the work of {it.call}: outside a generated kernel it is made as a tensor.",
)
LOOKS_LIKE_AN_EARLIER_CALL = Condition(
    holds=p.looks_like_an_earlier_call,
    otherwise="No earlier call of that op reads the same memory with the same arguments as {it.call}.",
    kind="op call that repeats an earlier one on the same memory",
)
SAME_CONTENTS = Condition(
    holds=p.has_the_same_contents,
    otherwise="{it.writer} wrote into what {it.call} reads after {it.twin} had read it: the contents are not the same.",
)
DRAWS_NO_RANDOM_NUMBERS = Condition(
    holds=p.draws_no_random_numbers,
    otherwise="{it.call} draws random numbers: it gives another result than {it.twin}.",
)
MERGED_WITH_AN_EQUAL_NODE = Condition(
    holds=p.was_merged_with_an_equal_node,
    otherwise="The compiler's graph holds no node before that of {it.call} with the same op on the same inputs.",
)
COMPUTED_ONCE = Condition(
    holds=p.is_computed_once,
    otherwise="{it.items} computes {it.call} although {it.twin} is equal: {it.apart}.",
)
GIVES_NO_ELEMENTS = Condition(
    holds=p.gives_no_elements,
    otherwise="{it.call} gives elements: there is something to compute.",
    kind="op call that gives an empty tensor",
)
READS_NO_TENSOR = Condition(
    holds=p.reads_no_tensor,
    otherwise="{it.call} reads a tensor: its result is not known at compile time.",
    kind="op call that makes a tensor of numbers alone",
)
RUNS_BESIDE_OTHER_WORK = Condition(
    holds=p.runs_beside_other_work,
    otherwise="{it.items} stores the result of {it.call}: something needs it in memory.",
)
COMES_FROM_CONSTANTS = Condition(
    holds=p.comes_from_constants,
    otherwise="{it.call} does not compute from numbers in the code alone, or {it.items} still does its work.",
)
LEADS_TO_A_CONSTANT = Condition(
    holds=p.leads_to_a_constant,
    otherwise="{it.call} does not lead to a node that was folded, or {it.items} still does its work.",
)
REPLACED_BY_ITS_INPUT = Condition(
    holds=p.was_replaced_by_its_input,
    otherwise="No pass let the users of {it.call} take its input instead; {it.items} does its work.",
)
WRITES_IN_PLACE = Condition(
    holds=p.writes_in_place,
    otherwise="{it.call} writes into none of its arguments.",
    kind="op call that writes in place",
)
GENERATED = Condition(
    holds=p.is_generated,
    otherwise="No generated kernel does the work of {it.call}: {it.items} does.",
)
HANDS_OVER_BY_COPY = Condition(
    holds=p.hands_over_a_gradient_by_copy,
    otherwise="{it.call} hands over no gradient that the right side copies.",
)
HANDS_OVER_OTHERWISE = Condition(
    holds=p.hands_over_otherwise,
    otherwise="{it.call} hands over no gradient whose layout differs between the sides.",
)
TAKES_ANOTHER_WAY = Condition(
    holds=p.takes_another_way,
    otherwise="The compiled function runs the lines of {it.call} too.",
)
CALLED_OTHERWISE = Condition(
    holds=p.is_called_otherwise,
    otherwise="The compiled function makes {it.call} on its line too, or does not run the line.",
)
HAS_THE_NEIGHBOURS_OF_OTHER_WORK = Condition(
    holds=p.has_the_neighbours_of_other_work,
    otherwise="No other call runs between the neighbours of {it.call} on the right.",
)
GUESSED_TO_BE_SPLIT = Condition(
    holds=p.is_guessed_to_be_split,
    otherwise="{it.items} does {it.call}: no plain product with a generated kernel.",
)
GUESSED_IN_A_LIBRARY_CALL = Condition(
    holds=p.is_guessed_in_a_library_call,
    otherwise="{it.items} does {it.call}: not a library call of another name alone.",
)
CHANGED_BY_A_PATTERN = Condition(
    holds=p.was_changed_by_a_pattern,
    otherwise="No pattern of the compiler put a library call in the place of {it.call}; {it.items} does its work.",
)
BECAME_SEVERAL = Condition(
    holds=p.became_several,
    otherwise="{it.call} became one node of its own kind; {it.items} does its work.",
)
