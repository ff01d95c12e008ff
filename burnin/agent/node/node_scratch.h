#pragma once
// Scratch folders on a real node: everything by openat(2), fstat(2) and unlinkat(2) of descriptors,
// and no link is followed.
#include "burnin/agent/node/stages/scratch.h"

namespace cupel::agent {

/// Where TERM, INT or HUP ends the process, all its folders are removed, and what it has started is
/// ended first. One for each process, made before anything is started.
class NodeScratch final : public Scratch {
 public:
  /// `root`: where the node's files lie, as Tree has it.
  explicit NodeScratch(std::string root);

  std::optional<Room> look(const std::string& folder) const override;
  Made make(const Room& room, std::string_view kind) override;
  /// The folder of that name in there, if it is as make() has just made it: no link, ours, closed
  /// to everybody else, on the same file system, and empty.
  Made take(const Room& room, const std::string& name) const;
  Held hold(const std::string& device, const std::string& serial) override;

 private:
  std::string root_;  // without a slash at its end
};

}  // namespace cupel::agent
