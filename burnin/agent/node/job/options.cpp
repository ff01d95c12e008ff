#include "burnin/agent/node/job/options.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::agent {

std::string_view Options::value(std::string_view name, std::string_view otherwise) const {
  const auto found = set.find(name);
  return found == set.end() ? otherwise : found->second;
}

Result<std::uint64_t> Options::amount(std::string_view name, std::uint64_t otherwise,
                                      std::uint64_t least, std::uint64_t most) const {
  const auto found = set.find(name);
  if (found == set.end()) return otherwise;
  const auto told = number<std::uint64_t>(found->second);
  if (told && *told >= least && *told <= most) return *told;
  return Error{Code::kInvalid, std::string{name} + " " + printable(found->second) +
                                   ": a whole number from " + std::to_string(least) + " to " +
                                   std::to_string(most) + " is due"};
}

Result<Options> read_options(std::span<const std::string_view> arguments,
                             std::span<const std::string_view> known) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto word = arguments[i];
    if (word == "--") {
      options.behind.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                            arguments.end());
      break;
    }
    if (!word.starts_with("--")) {
      options.words.push_back(word);
      continue;
    }
    const auto name = printable(word);
    if (std::ranges::find(known, word) == known.end())
      return Error{Code::kInvalid, "there is no option " + name};
    if (i + 1 == arguments.size()) return Error{Code::kInvalid, name + " lacks its value"};
    if (!options.set.emplace(word, arguments[++i]).second)
      return Error{Code::kInvalid, name + " is said twice"};
  }
  return options;
}

}  // namespace cupel::agent
