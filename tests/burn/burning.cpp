#include "tests/burn/burning.h"

#ifdef FAKE_LIBRARIES
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>

namespace cupel::burn {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string text_of(const json::object& line, std::string_view name) {
  const auto* const value = line.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->as_string()} : std::string{};
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const auto& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

std::string whole(int file) {
  std::string text(64 << 10, '\0');
  const auto size = ::pread(file, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

}  // namespace

std::vector<json::object> Burned::of_kind(std::string_view kind) const {
  std::vector<json::object> found;
  std::ranges::copy_if(lines, std::back_inserter(found),
                       [&](const auto& line) { return text_of(line, "kind") == kind; });
  return found;
}

std::vector<std::string> Burned::parts(std::string_view kind) const {
  std::vector<std::string> parts;
  for (const auto& line : of_kind(kind)) parts.push_back(text_of(line, "part"));
  std::ranges::sort(parts);
  const auto same = std::ranges::unique(parts);
  parts.erase(same.begin(), same.end());
  return parts;
}

bool Burned::is_complete() const {
  const auto ends = of_kind("end");
  return ends.size() == 1 && ends.front().at("complete").as_bool();
}

Burning::Burning(const std::string& arguments, const std::vector<std::string>& faults)
    : command_{arguments}, begun_{now()} {
  std::vector<std::string> environment{"LD_LIBRARY_PATH=" FAKE_LIBRARIES, "PATH=/usr/bin:/bin"};
  for (const std::string name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "TMPDIR"}) {
    const auto sets_it = [&](const auto& fault) { return fault.starts_with(name + "="); };
    const char* value = ::getenv(name.c_str());
    if (value != nullptr && std::ranges::none_of(faults, sets_it))
      environment.push_back(name + "=" + value);
  }
  environment.insert(environment.end(), faults.begin(), faults.end());
  std::vector<std::string> words{"cupel-burn"};
  std::istringstream from{arguments};
  for (std::string word; from >> word;) words.push_back(word);
  const auto argv = pointers(words);
  const auto envp = pointers(environment);
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  errors_ = ::memfd_create("errors", MFD_CLOEXEC);
  pid_ = ::vfork();  // fork(2) would copy the page tables of a test that a sanitizer made large
  if (pid_ == 0) {
    ::setpgid(0, 0);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(errors_, STDERR_FILENO);
    ::execve(BURN_BINARY, argv.data(), envp.data());
    ::_exit(127);
  }
  ::setpgid(pid_, pid_);
  ::close(ends[1]);
  output_ = ends[0];
}

Burning::~Burning() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(output_);
  ::close(errors_);
}

bool Burning::read_some() {
  std::array<char, 4096> block{};
  const auto size = ::read(output_, block.data(), block.size());
  if (size > 0) text_.append(block.data(), static_cast<std::size_t>(size));
  return size > 0;
}

void Burning::until(std::string_view text) {
  while (text_.find(text) == text_.npos)
    if (!read_some()) break;
}

void Burning::terminate() { ::kill(-pid_, SIGTERM); }

void Burning::kill() { ::kill(-pid_, SIGKILL); }

Burned Burning::end() {
  while (read_some()) continue;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  Burned burned{.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                .seconds = now() - begun_,
                .errors = whole(errors_)};
  std::istringstream lines{text_};
  for (std::string line; std::getline(lines, line);) {
    auto parsed = parse_json(line);
    EXPECT_TRUE(parsed) << command_ << ": " << line;
    if (parsed) burned.lines.push_back(parsed->as_object());
  }
  return burned;
}

}  // namespace cupel::burn
#endif
