#pragma once
// The subcommand `watch`: reads the node's numbers each second and listens to its kernel, until its
// time is over or somebody ends it; then says what it adds up to. Reads; changes nothing. Costs
// less than a hundredth of a core.
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "burnin/agent/node/subcommand.h"
#include "burnin/agent/node/watch/kernel_log.h"
#include "burnin/agent/node/watch/part_names.h"
#include "burnin/agent/node/watch/watch_summary.h"

namespace cupel::agent {

struct WatchOptions {
  double seconds = 0;  // 0: until SIGTERM
  double every = 1;    // seconds between two samples
  /// Seconds between two samples that are printed; the sum is of all. Around a fault each is.
  double print = 1;
  double slow = 10;  // seconds between two samples of what changes seldom
};

/// One watch without its clock: what is read, written down and reported when.
class Watch {
 public:
  /// A line each; with its end.
  using Say = std::function<void(const std::string& line)>;

  Watch(const Tree& tree, const nvml::Library& library, WatchOptions options, Say say);

  /// The first line: what will be sampled, and what can't be.
  void begin();
  /// `now`: seconds since begin().
  void sample(double now);
  void listen(double now);
  /// The last line. `stopped`: somebody ended it before its time.
  void end(double now, bool stopped);

  KernelLog& kernel() { return kernel_; }

 private:
  std::string sample_text(double now, const std::vector<Reading>& readings) const;
  void say_sample(double now, const std::vector<Reading>& readings);
  bool shows_a_fault(const std::vector<Reading>& readings);
  void tell_all_around(double now);
  void take(double now, const KernelMessage& message, const KernelRecord& record);
  void say_message(double now, const KernelMessage& message, const std::string& part,
                   const KernelRecord& record);
  std::vector<Gap> gaps() const;

  WatchOptions options_;
  Say say_;
  PartNames names_;
  KernelLog kernel_;
  MessageReader reader_;
  std::vector<std::unique_ptr<Sampler>> samplers_;
  WatchSummary summary_;
  std::uint64_t samples_ = 0, reported_ = 0, unreported_ = 0;
  std::uint64_t records_ = 0;
  double next_slow_ = 0, next_print_ = 0;
  std::deque<std::string> before_{};  // the newest samples that were not printed
  double all_until_ = -1;             // until then each sample is printed
  std::size_t around_ = 0;            // bytes of samples that were printed for faults
  std::map<std::pair<std::string_view, std::string_view>, double> last_{};  // of what shows faults
  double second_ = -1;  // in which so many messages were reported:
  int reported_in_second_ = 0;
};

/// `watch [--seconds N] [--every S] [--print S] [--slow S] [--root FOLDER] [--nvml FILE]`. Ends
/// with kDone also when SIGTERM ended it: its last line says so.
int watch(Arguments arguments);

}  // namespace cupel::agent
