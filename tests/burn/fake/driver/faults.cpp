#include "tests/burn/fake/driver/faults.h"

#include <cstdlib>
#include <sstream>
#include <vector>

namespace cupel::burn::fake {
namespace {

std::vector<std::string> words_of(const char* variable) {
  std::vector<std::string> words;
  const char* const text = std::getenv(variable);
  std::istringstream from{text == nullptr ? "" : text};
  for (std::string word; std::getline(from, word, ':');) words.push_back(word);
  return words;
}

int number(const std::vector<std::string>& words, std::size_t at, int fallback = 0) {
  return at < words.size() ? std::atoi(words[at].c_str()) : fallback;
}

std::optional<AtOperation> at_operation(const char* variable) {
  const auto words = words_of(variable);
  if (words.empty()) return std::nullopt;
  return AtOperation{number(words, 0), number(words, 1), number(words, 2)};
}

Faults read() {
  Faults faults;
  faults.gpus = number(words_of("FAKE_GPUS"), 0, faults.gpus);
  faults.memory = static_cast<std::size_t>(number(words_of("FAKE_GPU_MEMORY"), 0, 16'384)) << 20;
  faults.driver = number(words_of("FAKE_DRIVER"), 0, faults.driver);
  if (const auto words = words_of("FAKE_WRONG"); words.size() >= 2)
    faults.wrong = Wrong{number(words, 0), words[1], number(words, 2)};
  faults.dies = at_operation("FAKE_DIES");
  faults.hangs = at_operation("FAKE_HANGS");
  return faults;
}

}  // namespace

const Faults& faults() {
  static const Faults read_once = read();
  return read_once;
}

}  // namespace cupel::burn::fake
