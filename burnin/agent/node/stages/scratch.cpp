#include "burnin/agent/node/stages/scratch.h"

#include "base/text.h"

namespace cupel::agent {
namespace {

class NoScratch final : public Scratch {
 public:
  std::optional<Room> look(const std::string&) const override { return std::nullopt; }
  Made make(const Room& room, std::string_view) override {
    return {nullptr, "nothing is written to " + room.path};
  }
  Held hold(const std::string& device, const std::string&) override {
    return {nullptr, "nothing is written to " + device};
  }
};

}  // namespace

Scratch& no_scratch() {
  static NoScratch none;
  return none;
}

/// Hosts' names may have dots: what stands behind the last two of the folder's name is ours.
std::optional<ScratchName> ScratchName::read(std::string_view name, std::string_view kind) {
  if (!name.starts_with(kind) || !name.substr(kind.size()).starts_with('.')) return std::nullopt;
  const auto rest = name.substr(kind.size() + 1);
  const auto last = rest.rfind('.');
  const auto middle = last == rest.npos || last == 0 ? rest.npos : rest.rfind('.', last - 1);
  if (middle == rest.npos) return std::nullopt;
  const auto first = rest.substr(middle + 1, last - middle - 1), second = rest.substr(last + 1);
  const auto dash = second.find('-');
  const bool dated = dash != second.npos;
  const auto seconds = dated ? number<std::uint64_t>(first) : std::optional<std::uint64_t>{0};
  const auto process = number<int>(dated ? second.substr(0, dash) : first);
  if (!seconds || !process || *process <= 0) return std::nullopt;
  return ScratchName{std::string{rest.substr(0, middle)}, *seconds, *process};
}

std::string ScratchName::text(std::string_view kind, std::string_view random) const {
  return std::string{kind} + "." + host + "." + std::to_string(seconds) + "." +
         std::to_string(process) + "-" + std::string{random};
}

}  // namespace cupel::agent
