#pragma once
// One stream of a job on its way into its file, up to a limit.
#include <cstdint>
#include <string>

#include "base/result.h"
#include "burnin/agent/common/descriptor.h"

namespace cupel::agent {

class Spool {
 public:
  /// Errors: kFailed where the file is there already or cannot be made.
  static Result<Spool> into(const std::string& path, std::uint64_t limit);

  /// What the job says; closed by us when it has said all.
  void listen_to(Descriptor source) { source_ = std::move(source); }
  int source() const { return source_.number(); }

  /// Takes over whatever is there now. Never blocks on the job.
  void take();

  /// All that is left to take once nobody is there to say more. Bounded.
  void take_rest();

  /// A remark of the supervisor's own, over the limit too.
  void remark(std::string_view words);

  /// The limit was reached, or the disk was full; nothing is taken any more, so nothing is lost of
  /// what was reported before.
  bool full() const { return full_; }
  std::string_view why_full() const { return why_; }

  /// On the disk.
  void sync();

 private:
  Descriptor file_{};
  Descriptor source_{};
  std::uint64_t room_ = 0;
  bool full_ = false;
  std::string why_{};
};

}  // namespace cupel::agent
