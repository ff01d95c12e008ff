#pragma once
// What a test's process, and all that it starts, sees of the machine that it runs on: nothing of an
// installed Cupel, and a loopback that nobody else listens on. It leaves nothing of ours there.
// Every test program has it (tests/CMakeLists.txt).

namespace cupel::testing {

/// Whether it is so. Only root gets mounts and a network of its own; for others, the programs of a
/// Cupel that is installed on the machine are those of the nodes that it plays. A test may then
/// mount what it likes, and only its own children see it.
bool has_own_host();

/// While one lives, this thread, and what it starts, is in the machine's own network after all: for
/// what fetches packages.
class MachinesNetwork {
 public:
  MachinesNetwork();
  ~MachinesNetwork();
  MachinesNetwork(const MachinesNetwork&) = delete;
  MachinesNetwork& operator=(const MachinesNetwork&) = delete;

 private:
  int ours_;
};

}  // namespace cupel::testing
