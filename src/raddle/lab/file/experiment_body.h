// The part of an experiment's own file that uses what is defined: runs, figures, statements.
#pragma once
#include "raddle/lab/file/section.h"

namespace raddle::lab {

/// `alone`: the file has no paper.toml beside it. Then what it does not define, names define
/// (short_form.h), and it may do without figures and statements.
void read_body(Section& file, Scale scale, bool alone, Experiment& e);

}  // namespace raddle::lab
