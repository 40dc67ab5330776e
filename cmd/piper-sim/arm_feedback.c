/* What the simulated arm reports; piper.md 5. Currents and temperatures are not modelled. */
#include <math.h>

#include "piper-sim/arm.h"
#include "wire/piper_feedback.h"

#define MOTOR_ENABLED 0x40
#define GRIPPER_ENABLED 0x40
#define GRIPPER_HOMED 0x80
#define REACHED_RAD 1e-3

static int16_t mrad16(double v)
{
	return (int16_t)fmax(-32768, fmin(32767, rint(v * 1000)));
}

static void put_status(const struct arm *a, struct can_frame *f)
{
	struct piper_fb_status s = {
		.ctrl = a->ctrl,
		.arm = simarm_status(a),
		.move = a->move,
		.teach = a->teach,
		.motion = simarm_lead_rad(a) > REACHED_RAD,
		.limit_bits = a->limit_bits,
	};

	piper_fb_status(f, &s);
}

static void put_gripper(const struct arm *a, struct can_frame *f)
{
	struct piper_fb_gripper g = {
		.stroke_um = (int32_t)lrint(a->grip.width_m * 1e6),
		.effort_mnm =
			a->grip.moving ? (int16_t)lrint(a->grip.effort_nm * 1000) : (int16_t)0,
		.bits = (uint8_t)((a->grip.enabled ? GRIPPER_ENABLED : 0) |
				  (a->grip.homed ? GRIPPER_HOMED : 0)),
	};

	piper_fb_gripper(f, &g);
}

static void put_motors(const struct arm *a, bool slow, struct can_frame *f)
{
	for (int i = 0; i < ARM_JOINTS; i++) {
		struct piper_fb_fast m = { .speed_mrad_s = mrad16(a->v[i]),
			.position_mrad = (int32_t)lrint(a->q[i] * 1000) };
		bool shown = a->enabled[i] && a->now_us >= a->shows_us[i];
		struct piper_fb_slow s = { .volt_d = 240,
			.driver_c = 36,
			.motor_c = 31,
			.bits = shown ? MOTOR_ENABLED : 0 };

		piper_fb_fast(&f[i], i + 1, &m);
		if (slow)
			piper_fb_slow(&f[ARM_JOINTS + i], i + 1, &s);
	}
}

int simarm_feedback(const struct arm *a, bool slow, struct can_frame out[ARM_BURST_MAX])
{
	if (!a->powered)
		return 0;
	put_status(a, &out[0]);
	if (piper_fb_pose(&out[1], simarm_flange(a)) != 0 || piper_fb_joints(&out[4], a->q) != 0)
		return 0; /* cannot be: joints stay inside their limits */
	put_gripper(a, &out[7]);
	put_motors(a, slow, &out[8]);
	return slow ? ARM_BURST_MAX : ARM_BURST_MAX - ARM_JOINTS;
}
