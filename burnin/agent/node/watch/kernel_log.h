#pragma once
// Messages of the kernel: new ones, or all that it still has, without waiting for any.
#include <string>
#include <vector>

#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/node/kernel_messages.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {

class KernelLog {
 public:
  enum class From { beginning, end };

  /// Opens /dev/kmsg; needs root. why() says why it could not.
  explicit KernelLog(const Tree& tree, From from = From::end);

  /// What came since, at most `most` records: the rest comes with the next call.
  std::vector<KernelRecord> read(std::size_t most = 500);

  bool works() const { return static_cast<bool>(file_); }
  const std::string& why() const { return why_; }
  int descriptor() const { return file_.number(); }
  /// How often the kernel had overwritten messages before we came to read them.
  std::uint64_t overruns() const { return overruns_; }

 private:
  Descriptor file_;
  std::string why_;
  std::string rest_;  // of a record that did not come whole
  std::uint64_t overruns_ = 0;
};

}  // namespace cupel::agent
