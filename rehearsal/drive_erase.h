#pragma once
// What an NVMe drive's erase of itself has come to: its sanitize status log. Of the drive, by its
// serial number: it outlives restarts, and leaves with the drive. Source: NVM Express base
// specification 2.0, Sanitize Status (log page 81h).

namespace cupel::rehearsal {

struct DriveErase {
  int action = 0;       // of the last sanitize command; 0: none ever
  double began = 0;     // seconds since 1970, of the rack
  double takes = 0;     // seconds
  bool fails = false;   // where it has got to two fifths
  bool erased = false;  // by a format, which has no log
  double slower = 1;    // so many times longer than such drives take; of all that are to come

  bool runs(double now) const { return action != 0 && now < began + span(); }
  bool is_done(double now) const { return action != 0 && !fails && !runs(now); }
  /// SPROG: of 65536; 65535 where none runs.
  int progress(double now) const {
    return runs(now) ? static_cast<int>(65535 * (now - began) / takes) : 65535;
  }
  /// SSTAT: 0 never, 2 in progress, 3 failed, 1 completed with all data erased (bit 8).
  int status(double now) const {
    if (action == 0) return 0;
    return runs(now) ? 2 : fails ? 3 : 0x101;
  }

 private:
  double span() const { return fails ? takes * 0.4 : takes; }
};

}  // namespace cupel::rehearsal
