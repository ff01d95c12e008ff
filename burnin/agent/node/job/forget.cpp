// A job's folder from outside: a word for the job while it runs, and the folder's end.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/options.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/job/folder.h"
#include "burnin/agent/node/job/subcommands.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kLongestWord = 64 * 1024;
constexpr std::array kChoices{Choice{.name = "--folder", .kind = Choice::Kind::kText}};

/// The folder that is named, safe to use.
Result<std::string> folder_in(Arguments arguments) {
  TRY(const auto options, Options::read(kChoices, arguments));
  TRY(auto folder, job_folder(options.text("--folder")));
  TRY(check_safe(folder));
  return folder;
}

Result<std::string> word_on_input() {
  std::string word;
  char piece[4096];
  while (word.size() <= kLongestWord) {
    const auto got = ::read(STDIN_FILENO, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return word;
    word.append(piece, static_cast<std::size_t>(got));
  }
  return Error{Code::kInvalid, "the word is longer than 64 KiB"};
}

}  // namespace

/// A job that has gone needs no word.
int tell_job(Arguments arguments) {
  const auto folder = folder_in(arguments);
  if (!folder) return print_error(folder.error());
  const auto word = word_on_input();
  if (!word) return print_error(word.error());
  if (::access((*folder + "/started").c_str(), F_OK) != 0) return kDone;
  const auto written = write_durably(*folder + "/word", *word);
  return written ? kDone : print_error(written.error());
}

int forget_job(Arguments arguments) {
  const auto folder = folder_in(arguments);
  if (!folder) return print_error(folder.error());
  const auto phase = look(*folder).phase;
  if (phase == Phase::running || phase == Phase::starting) return kStillRunning;
  std::error_code failure;
  std::filesystem::remove_all(*folder, failure);
  if (failure) return print_error(Error{Code::kFailed, *folder + ": " + failure.message()});
  return kDone;
}

}  // namespace cupel::agent
