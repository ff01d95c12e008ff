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

std::optional<Fault> fault(const char* variable) {
  const auto words = words_of(variable);
  if (words.size() < 2) return std::nullopt;
  return Fault{number(words, 0), words[1], number(words, 2), number(words, 3)};
}

Faults read() {
  Faults faults;
  faults.gpus = number(words_of("FAKE_GPUS"), 0, faults.gpus);
  faults.memory = static_cast<std::size_t>(number(words_of("FAKE_GPU_MEMORY"), 0, 16'384)) << 20;
  faults.driver = number(words_of("FAKE_DRIVER"), 0, faults.driver);
  faults.wrong = fault("FAKE_WRONG");
  faults.dies = fault("FAKE_DIES");
  faults.hangs = fault("FAKE_HANGS");
  faults.crashes = fault("FAKE_CRASHES");
  faults.stuck = fault("FAKE_STUCK");
  faults.wants_eager = !words_of("FAKE_WANTS_EAGER").empty();
  if (const auto words = words_of("FAKE_REFUSES"); !words.empty())
    faults.refuses = number(words, 0);
  faults.slow = fault("FAKE_SLOW");
  const auto visible = words_of("CUDA_VISIBLE_DEVICES");
  if (!visible.empty() && visible[0].starts_with("GPU-") && visible[0].size() == 40)
    faults.only = static_cast<int>(std::strtol(visible[0].substr(38).c_str(), nullptr, 16));
  return faults;
}

}  // namespace

const Faults& faults() {
  static const Faults read_once = read();
  return read_once;
}

}  // namespace cupel::burn::fake
