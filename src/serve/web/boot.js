/* boot.js - the theme, before the first paint. A classic script: modules run
 * after it. */
(function () {
	'use strict';
	var theme = 'auto';
	try { theme = localStorage.getItem('wend.theme') || 'auto'; } catch (e) { }
	if (theme === 'light' || theme === 'dark')
		document.documentElement.dataset.theme = theme;
})();
