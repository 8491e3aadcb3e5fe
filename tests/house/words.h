// The words that names in code must not be made of: the second table of docs/glossary.md.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "house/rules.h"

namespace raddle::house {

/// By word, what is used instead: the rows of the table "Words we do not use" whose last cell is
/// "refused". A word of several is there as its parts joined by '_'; "most-" is refused in front
/// of a name only.
std::map<std::string, std::string, std::less<>> refused_in_names(const std::string& glossary);

/// The words that a name is made of, in lower case: kMostSms and most_sms are "most", "sms".
std::vector<std::string> words_of(std::string_view name);

/// Names in `file` that have a refused word in them, each name once. Names of tests are sentences
/// and
/// may say what they like.
Findings dialect(const SourceFile& file,
                 const std::map<std::string, std::string, std::less<>>& refused);

}  // namespace raddle::house
