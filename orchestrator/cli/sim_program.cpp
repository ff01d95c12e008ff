#include "orchestrator/cli/sim_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/json.h"
#include "base/ownership.h"
#include "base/process.h"
#include "orchestrator/ssh/missing_program.h"

namespace cupel::cli {
namespace {

constexpr std::string_view kSimProgram = "cupel-sim";

/// As execv() takes them; valid as long as `words`.
std::vector<char*> line_of(std::vector<std::string>& words) {
  std::vector<char*> line;
  for (auto& word : words) line.push_back(word.data());
  line.push_back(nullptr);
  return line;
}

/// Of a file; 0: not known.
int place_at(const boost::json::value& problem, std::string_view key) {
  return static_cast<int>(std::clamp(number_at(problem, key).value_or(0), 0.0, 1e9));
}

}  // namespace

Result<std::string> find_sim(const std::filesystem::path& programs) {
  const ssh::ProgramShelf shelf{ssh::program_folders(programs)};
  if (const auto file = ssh::file_of(shelf, kSimProgram)) {
    TRY(check_ownership(*file));
    return file->string();
  }
  std::string places;
  for (const auto& folder : shelf.folders())
    places += (places.empty() ? "in " : ", nor in ") + folder.string();
  return Error{Code::kNotFound,
               "the virtual rack is a program of its own, cupel-sim, and it is not " +
                   (places.empty() ? "beside cupel" : places) +
                   ". Install the package cupel-sim, or run scripts/install; in a build tree: "
                   "cmake --build BUILD --target cupel-sim"};
}

Error become_sim(const std::filesystem::path& programs, const std::vector<std::string>& words) {
  auto sim = find_sim(programs);
  if (!sim) return std::move(sim).error();
  std::vector<std::string> all{*sim};
  all.insert(all.end(), words.begin(), words.end());
  ::execv(sim->c_str(), line_of(all).data());
  return Error{Code::kFailed, *sim + ": " + std::strerror(errno)};
}

Result<boost::json::value> ask_sim(const std::filesystem::path& programs,
                                   const std::vector<std::string>& words) {
  constexpr std::chrono::minutes kMost{2};
  TRY(const auto sim, find_sim(programs));
  ProcessRequest request;
  request.argv = {sim};
  request.argv.insert(request.argv.end(), words.begin(), words.end());
  asio::io_context io{1};
  TRY(const auto outcome, run_to_end(io, run_process(std::move(request), Deadline::in(kMost))));
  auto answer = parse_json(outcome.output);
  if (answer) return answer;
  return Error{Code::kFailed, sim + " ended with exit status " +
                                  std::to_string(outcome.exit_status) + ": " + outcome.error};
}

std::vector<inventory::Problem> problems_of(const boost::json::value& answer) {
  std::vector<inventory::Problem> problems;
  const auto* list = find(answer, "problems");
  if (list == nullptr || !list->is_array()) return problems;
  for (const auto& each : list->get_array())
    if (each.is_object())
      problems.push_back(
          {{text_at(each, "file").value_or(""), place_at(each, "line"), place_at(each, "column")},
           text_at(each, "what").value_or("")});
  return problems;
}

Result<void> RackProcess::start(const std::filesystem::path& programs,
                                std::vector<std::string> words) {
  TRY(auto sim, find_sim(programs));
  words.insert(words.begin(), sim);
  const auto line = line_of(words);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{Code::kFailed, std::string{"pipe: "} + std::strerror(errno)};
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    // A Ctrl-C on the terminal is for the controller; it still needs the rack to clean up.
    ::setsid();
    ::dup2(ends[1], STDOUT_FILENO);
    ::execv(line.front(), line.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  reported_ = ends[0];
  // The rest of what it tells stays in the pipe.
  char first = 0;
  if (::read(reported_, &first, 1) == 1) return ok();
  return Error{Code::kFailed, "the virtual rack did not start"};
}

std::string RackProcess::stop() {
  std::string rest;
  if (pid_ > 0) ::kill(pid_, SIGTERM);
  if (reported_ >= 0) {
    char piece[4096];
    for (;;) {
      const auto got = ::read(reported_, piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      rest.append(piece, static_cast<std::size_t>(got));
    }
    ::close(std::exchange(reported_, -1));
  }
  int status = 0;
  while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return rest;
}

}  // namespace cupel::cli
