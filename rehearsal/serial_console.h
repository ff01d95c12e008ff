#pragma once
// A machine's serial console as a wire: what comes out of it, and what is typed into it. Not who
// writes (console.h, or a real machine), nor the protocol that carries it (ipmi/sol.h).
#include <functional>
#include <string_view>

namespace cupel::rehearsal {

class SerialConsole {
 public:
  virtual ~SerialConsole() = default;

  /// Called on the machine's loop with what the machine writes; one listener, as on a wire.
  std::function<void(std::string_view)> wrote = [](std::string_view) {};

  virtual void type(std::string_view keys) = 0;
  virtual void send_break() = 0;
};

}  // namespace cupel::rehearsal
