#pragma once
// cupel-sim, the virtual rack: a program of its own, so that the controller carries none of it.
// Where it lies, what it answers, and a rack that stands as long as its object.
#include <sys/types.h>

#include <boost/json/value.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/problem.h"

namespace cupel::cli {

/// In the folder that --programs names (`programs`); else beside the program that runs us, or in
/// ../libexec/cupel of its folder. Errors: kNotFound, saying what is to be installed.
Result<std::string> find_sim(const std::filesystem::path& programs);

/// Becomes cupel-sim with these words. Errors: it could not.
Error become_sim(const std::filesystem::path& programs, const std::vector<std::string>& words);

/// Runs it to its end. Its one line of JSON. Errors: kNotFound (see find_sim), kFailed.
Result<boost::json::value> ask_sim(const std::filesystem::path& programs,
                                   const std::vector<std::string>& words);

/// What it says of files that are wrong; empty where it says nothing of that.
std::vector<inventory::Problem> problems_of(const boost::json::value& answer);

/// A rack's process, ended with this object and with this process, however that ends.
class RackProcess {
 public:
  RackProcess() = default;
  RackProcess(const RackProcess&) = delete;
  RackProcess& operator=(const RackProcess&) = delete;
  ~RackProcess() { stop(); }

  /// Returns once the rack has said that it stands. Errors: kNotFound (see find_sim), kFailed.
  Result<void> start(const std::filesystem::path& programs, std::vector<std::string> words);

  /// Ends it. All that it printed after its first byte. Idempotent.
  std::string stop();

 private:
  pid_t pid_ = -1;
  int reported_ = -1;
};

}  // namespace cupel::cli
