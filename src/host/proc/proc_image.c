/*
 * proc_image.c - the supervisor's program, as bytes.
 */
#include "host/proc/proc_image.h"

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl proc_image, proc_image_end\n"
        ".hidden proc_image, proc_image_end\n"
        "proc_image:\n"
        ".incbin \"" SUPER_PROGRAM "\"\n"
        "proc_image_end:\n"
        ".popsection\n");
