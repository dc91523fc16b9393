'use strict';
(() => {
	const make = (tag, properties, ...children) => {
		const element = Object.assign(document.createElement(tag), properties);
		element.append(...children);
		return element;
	};

	// Screen readers announce the text of this element after sorting and filtering.
	const status = document.body.appendChild(make('p', {className: 'visually-hidden', role: 'status'}));

	// Sortable tables: each column heading becomes a button. The order is that of the
	// cells' data-value, or of their text if they have none.
	const collator = new Intl.Collator(undefined, {numeric: true, sensitivity: 'base'});
	const sortable = table => {
		const headings = [...table.tHead.rows[0].cells];
		const body = table.tBodies[0];
		const rows = [...body.rows];
		const sortBy = (heading, column) => {
			const numeric = heading.classList.contains('number');
			const now = heading.getAttribute('aria-sort');
			const descending = now ? now === 'ascending' : numeric;
			const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
			const compare = numeric
				? (a, b) => Number(key(a)) - Number(key(b))
				: (a, b) => collator.compare(key(a), key(b));
			body.append(...[...rows].sort((a, b) => descending ? compare(b, a) : compare(a, b)));
			for (const other of headings) {
				other.removeAttribute('aria-sort');
			}
			const order = descending ? 'descending' : 'ascending';
			heading.setAttribute('aria-sort', order);
			status.textContent = `Sorted by ${heading.textContent.trim()}, ${order}`;
		};
		headings.forEach((heading, column) => {
			if (heading.classList.contains('fixed')) {
				return;
			}
			const button = make('button', {type: 'button'}, ...heading.childNodes);
			button.addEventListener('click', () => sortBy(heading, column));
			heading.append(button);
		});
	};
	document.querySelectorAll('table.sortable').forEach(sortable);

	// A long table gets a field that filters its rows by their text.
	const filterable = table => {
		const rows = [...table.tBodies[0].rows];
		if (rows.length <= 12) {
			return;
		}
		const texts = rows.map(row => row.textContent.toLowerCase());
		const field = make('input', {type: 'search', autocomplete: 'off', spellcheck: false});
		field.addEventListener('input', () => {
			const wanted = field.value.trim().toLowerCase();
			let shown = 0;
			rows.forEach((row, i) => {
				row.hidden = !texts[i].includes(wanted);
				shown += row.hidden ? 0 : 1;
			});
			status.textContent = `${shown} of ${rows.length} rows`;
		});
		table.closest('.scroll').before(make('label', {className: 'filter'}, table.dataset.filter, ' ', field));
	};
	document.querySelectorAll('table[data-filter]').forEach(filterable);

	// Tooltips describe the mark under the pointer. In a chart that has the focus, the
	// arrow keys select the mark.
	const tip = document.body.appendChild(make('div', {className: 'tip', role: 'status', hidden: true}));
	let marked = null;
	const hide = () => {
		tip.hidden = true;
		marked?.classList.remove('marked');
		marked = null;
	};
	const show = mark => {
		if (mark === marked) {
			return;
		}
		hide();
		marked = mark;
		mark.classList.add('marked');
		tip.textContent = mark.dataset.tip;
		tip.hidden = false;
		const at = mark.getBoundingClientRect();
		const size = tip.getBoundingClientRect();
		const room = document.documentElement.clientWidth - size.width - 8;
		tip.style.left = `${Math.max(8, Math.min(at.left + at.width / 2 - size.width / 2, room))}px`;
		tip.style.top = `${at.top > size.height + 12 ? at.top - size.height - 6 : at.bottom + 6}px`;
	};
	document.addEventListener('pointerover', event => {
		const mark = event.target.closest?.('[data-tip]');
		mark ? show(mark) : hide();
	});
	document.addEventListener('scroll', hide, {capture: true, passive: true});
	document.addEventListener('focusout', hide);

	// Of several charts below each other, only one is in the tab order. The left and
	// right keys select its marks, the up and down keys another chart.
	for (const group of document.querySelectorAll('table.strips > tbody, figure.activity')) {
		const all = [...group.querySelectorAll('svg.strip')].filter(chart => chart.querySelector('[data-tip]'));
		all.forEach((chart, i) => chart.setAttribute('tabindex', i === 0 ? '0' : '-1'));
		group.addEventListener('keydown', event => {
			const chart = event.target.closest?.('svg.strip');
			if (!chart) {
				return;
			}
			const marks = [...chart.querySelectorAll('[data-tip]')];
			const at = marks.indexOf(marked);
			const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
			const row = {ArrowDown: 1, ArrowUp: -1}[event.key];
			if (step) {
				show(marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : Math.max(0, Math.min(at + step, marks.length - 1))]);
			} else if (row) {
				const next = all[Math.max(0, Math.min(all.indexOf(chart) + row, all.length - 1))];
				chart.setAttribute('tabindex', '-1');
				next.setAttribute('tabindex', '0');
				next.focus();
			} else {
				return;
			}
			event.preventDefault();
		});
	}
	document.addEventListener('keydown', event => {
		if (event.key === 'Escape') {
			hide();
		}
	});

	// Open all details for printing.
	window.addEventListener('beforeprint', () => {
		document.querySelectorAll('details').forEach(details => { details.open = true; });
	});
})();
