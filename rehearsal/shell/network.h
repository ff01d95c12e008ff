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

 private:
  std::map<std::string, std::string, std::less<>> nodes_;
  std::map<std::pair<std::string, int>, ListenerPtr> listeners_;
};

}  // namespace cupel::rehearsal
