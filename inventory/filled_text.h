#pragma once
// Texts with variables: {{node}}, {{secret "file:token"}}. There are no expressions, conditions or
// loops (docs/build/decisions/user-data.md). Pure.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::inventory {

struct TextPart {
  enum class Kind { plain, variable, secret } kind = Kind::plain;
  std::string text{};  // as it stands; a variable's name; where a secret is: "file:token"
  friend bool operator==(const TextPart&, const TextPart&) = default;
};

/// The parts of a text, in their order. Braces that are no variable are written {{"{{"}}. `known`:
/// names of variables. Errors: kInvalid, with the line of the text, counted from 1.
Result<std::vector<TextPart>> text_parts(std::string_view text,
                                         std::span<const std::string_view> known);

/// Such a text again.
std::string text_of(const std::vector<TextPart>& parts);

/// By name, and by where a secret is.
struct TextValues {
  std::map<std::string, std::string, std::less<>> variables{}, secrets{};
};

/// What is put in is not searched again. What has no value is left out.
std::string filled(const std::vector<TextPart>& parts, const TextValues& values);

}  // namespace cupel::inventory
