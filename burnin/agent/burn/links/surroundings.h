#pragma once
// What surrounds a run of NCCL: the variables that change what it does, as they are recorded, and a
// folder for its log.
#include <filesystem>
#include <string>

#include "burnin/agent/burn/links/route.h"

namespace cupel::burn {

/// `parameters`, a JSON object, with the variables of this process, those of nccl.conf(5), and
/// those that this program sets.
std::string with_environment(std::string parameters, const Variables& set);

/// What NCCL's log says, of its first 16 MiB; nothing where there is none.
Taken read_log(const std::string& path);

/// A folder of its own for NCCL's log, gone with its scope.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string log() const;

 private:
  std::filesystem::path path_;
};

}  // namespace cupel::burn
