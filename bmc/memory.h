#pragma once
// What is known of BMCs beyond this process: which credentials they refused, who they are, where
// they went, how they fared. A door: the store keeps it; tests and one-off tools forget.
// Certificates are not in here: KnownKeys has them.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bmc/budget.h"
#include "bmc/known_bmc.h"

namespace cupel::bmc {

/// Credentials that a BMC did not accept, recognized by a mark that leads back to no password.
struct Refusal {
  std::string mark;  // secret_mark(password, salt)
  std::string salt;
  int times = 0;  // in a row
  /// The credentials are wrong, and are not sent again; false: some BMCs refuse right ones, too.
  bool wrong = false;
  std::chrono::sys_seconds last{};
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// Nothing in here fails: what cannot be kept is asked again another time.
class Memory {
 public:
  virtual ~Memory() = default;

  virtual std::optional<Refusal> refusal(const std::string& node, const std::string& user) = 0;
  /// Replaces what was kept; nothing: forgets it.
  virtual void keep_refusal(const std::string& node, const std::string& user,
                            const std::optional<Refusal>& refusal) = 0;

  virtual std::optional<KnownBmc> known_bmc(const std::string& node) = 0;
  virtual void keep_known_bmc(const std::string& node, const KnownBmc& known) = 0;

  virtual std::optional<Budget> budget(const std::string& node) = 0;
  /// Many at once: each write of a store waits for a disk.
  virtual void keep_budgets(const std::vector<std::pair<std::string, Budget>>& budgets) = 0;
};

/// For as long as the process lives.
class InMemoryBmcState final : public Memory {
 public:
  std::optional<Refusal> refusal(const std::string& node, const std::string& user) override;
  void keep_refusal(const std::string& node, const std::string& user,
                    const std::optional<Refusal>& refusal) override;
  std::optional<KnownBmc> known_bmc(const std::string& node) override;
  void keep_known_bmc(const std::string& node, const KnownBmc& known) override;
  std::optional<Budget> budget(const std::string& node) override;
  void keep_budgets(const std::vector<std::pair<std::string, Budget>>& budgets) override;

 private:
  std::map<std::pair<std::string, std::string>, Refusal> refusals_;
  std::map<std::string, KnownBmc> known_;
  std::map<std::string, Budget> budgets_;
};

}  // namespace cupel::bmc
