#include "orchestrator/os/console_tail.h"

#include <algorithm>
#include <fstream>

#include "orchestrator/console/bounded_log.h"

namespace cupel::os {
namespace {

constexpr std::uintmax_t kMost = 64u << 10;

std::string read_from(const std::filesystem::path& file, std::uintmax_t from,
                      std::uintmax_t until) {
  std::ifstream stream{file, std::ios::binary};
  stream.seekg(static_cast<std::streamoff>(std::max(from, until > kMost ? until - kMost : 0)));
  std::string text(static_cast<std::size_t>(std::min(kMost, until - from)), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text;
}

}  // namespace

void ConsoleTail::mark() {
  marked_.clear();
  for (const auto& log : console::log_files(folder_, node_)) marked_[log.file] = log.bytes;
}

std::string ConsoleTail::since_mark() const {
  std::string text;
  for (const auto& log : console::log_files(folder_, node_)) {
    const auto before = marked_.find(log.file);
    // One that has become smaller was begun anew.
    const bool grew = before != marked_.end() && before->second <= log.bytes;
    const auto from = grew ? before->second : 0;
    if (from < log.bytes) text += read_from(log.file, from, log.bytes);
  }
  if (text.size() > kMost) text.erase(0, text.size() - kMost);
  return text;
}

}  // namespace cupel::os
