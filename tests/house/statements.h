// Rules about statements and names: one statement a line, and words for names in long functions.
// They read tokens and no types, so they know a declaration by its form.
#pragma once
#include "house/rules.h"

namespace raddle::house {

/// Statements that are a chain of others, joined by commas: `a = b, c = d;`. Declarations of
/// several names, for-headers and whatever stands in brackets are none.
Findings comma_chains(const SourceFile& file);

/// Variables and parameters of one letter in functions of more than 30 lines, the signature's
/// included. Allowed: i, j, k, x, y, z and n, and the parameters of lambdas of one expression.
Findings one_letter_names(const SourceFile& file);

}  // namespace raddle::house
