#pragma once
// Which nodes of a rack reach each other over their management network, and which of their programs
// wait for another's. Names and addresses only: what a cable carries is the fabric's business, and
// no packet is ever sent.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rehearsal/shell/process.h"

namespace cupel::rehearsal {

/// A program that listens at a port until another comes.
struct Listener {
  ProcessPtr process{};
  std::string node{}, about{};       // `about`: what it offers, in its own words
  std::string peer{}, peer_about{};  // who came
  double share = 1;                  // of a path's rate that its own end leaves
  bool met = false, over = false;
  double result = 0;  // what both of them print
};
using ListenerPtr = std::shared_ptr<Listener>;

/// Where NCCL's ranks of several nodes meet, by the id that one of them made.
struct NcclMeeting {
  struct Member {
    ProcessPtr process{};
    std::string node{};
    std::vector<std::string> hcas{};
    std::size_t ranks = 0;
    bool is_through = false;  // its last operation is done, but for the others
    double own = 0;           // seconds of its slowest GPU's part of a training step
  };
  std::map<int, Member> members{};  // by their first rank
  bool is_reached = true;           // the others' connections come through
  bool is_broken = false;           // a rank does not go on

  std::size_t ranks() const;
  bool is_through() const;
  void wake() const;
};
using NcclMeetingPtr = std::shared_ptr<NcclMeeting>;

class Network {
 public:
  /// A node answers to its name, and to others.
  void add(const std::string& address, const std::string& node) { nodes_[address] = node; }
  /// Nothing where nobody answers.
  std::optional<std::string> node_at(std::string_view address) const;

  /// Nullptr where the port is taken.
  ListenerPtr listen(const std::string& node, int port, ProcessPtr process);
  /// Takes the listener: nobody else meets it. Nullptr where there is none.
  ListenerPtr meet(const std::string& node, int port);
  void close(const ListenerPtr& listener);

  /// For ids, none of which is made twice.
  std::uint64_t next_meeting() { return ++meetings_opened_; }
  NcclMeetingPtr open_meeting(const std::string& id);
  /// Nullptr where its process is gone, or out of the others' reach.
  NcclMeetingPtr meeting(const std::string& id) const;
  void close_meeting(const std::string& id) { meetings_.erase(id); }

 private:
  std::map<std::string, std::string, std::less<>> nodes_;
  std::map<std::pair<std::string, int>, ListenerPtr> listeners_;
  std::map<std::string, NcclMeetingPtr> meetings_;
  std::uint64_t meetings_opened_ = 0;
};

}  // namespace cupel::rehearsal
